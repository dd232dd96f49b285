/** Samples that arrive while they are recorded: a microphone, or standard input. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { SampleFormat } from '../audio/wav.ts';
import { type CliContext, UsageError } from './context.ts';
import { parseWavHeader } from './wav-header.ts';

export type LiveInput = {
  readonly format: SampleFormat;
  readonly samples: Readable;
  /** Number of bytes of samples. What follows is something else. */
  readonly bytes: number;
  /** Why the samples ended, unless `stop` or their end is the reason. */
  error(): Promise<string | null>;
  stop(): void;
};

const microphoneFormat: SampleFormat = { encoding: 's16le', sampleRate: 16_000, channels: 1 };
const ffmpegOutput = ['-ac', '1', '-ar', '16000', '-f', 's16le', '-loglevel', 'error', '-'];

type Recorder = readonly [program: string, args: (device: string | undefined) => readonly string[]];

/** Programs that write samples of `microphoneFormat`, in order of preference. */
const recorders: Readonly<Record<string, readonly Recorder[]>> = {
  linux: [
    [
      'parec',
      (device) => [
        ...['--format=s16le', '--rate=16000', '--channels=1', '--latency-msec=100'],
        ...(device === undefined ? [] : [`--device=${device}`]),
      ],
    ],
    [
      'arecord',
      (device = 'default') => ['-q', '-t', 'raw', '-f', 'S16_LE', '-r', '16000', '-c', '1', '-D', device],
    ],
    ['ffmpeg', (device = 'default') => ['-f', 'alsa', '-i', device, ...ffmpegOutput]],
  ],
  darwin: [['ffmpeg', (device = 'default') => ['-f', 'avfoundation', '-i', `:${device}`, ...ffmpegOutput]]],
};

const installation: Readonly<Record<string, string>> = {
  linux: 'parec (apt install pulseaudio-utils), arecord (apt install alsa-utils) or ffmpeg',
  darwin: 'ffmpeg (brew install ffmpeg)',
};

/** Read the samples at once: those of a program that has ended are lost. @throws UsageError without a program that records */
export function openMicrophone(device: string | undefined, { env }: CliContext): LiveInput {
  const known = recorders[process.platform] ?? [];
  const recorder = known.find(([program]) => isInstalled(program, env.PATH));
  if (recorder === undefined) {
    const expected = installation[process.platform] ?? 'Linux or macOS';
    throw new UsageError(
      `Expected ${expected} to record a microphone, got none; or pipe audio to \`undertone listen -\``,
    );
  }
  const [program, args] = recorder;
  // Ctrl-C does not reach a detached process: `stop` ends it.
  const child = spawn(program, args(device), { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  const closed = once(child, 'close').catch(() => {});
  let printed = '';
  child.stderr.on('data', (text) => {
    printed += text;
  });
  let stopped = false;
  return {
    format: microphoneFormat,
    samples: child.stdout,
    bytes: Number.POSITIVE_INFINITY,
    error: async () => {
      if (stopped || !child.stdout.readableEnded) return null;
      await closed;
      return child.exitCode === 0 ? null : `${program} ended: ${printed.trim()}`;
    },
    stop: () => {
      stopped = true;
      child.kill();
    },
  };
}

function isInstalled(program: string, path = ''): boolean {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** @param format of raw samples; null for a WAV file */
export async function openStdin(format: SampleFormat | null, { stdin }: CliContext): Promise<LiveInput> {
  const header = format === null ? await readHeader(stdin) : { format, bytes: Number.POSITIVE_INFINITY };
  return { ...header, samples: stdin, error: async () => null, stop: () => stdin.destroy() };
}

async function readHeader(stream: Readable): Promise<Pick<LiveInput, 'format' | 'bytes'>> {
  let head: Buffer = Buffer.alloc(0);
  for (;;) {
    const chunk: Buffer | null = stream.read();
    if (chunk === null) {
      if (stream.readableEnded)
        throw new UsageError(`Expected a WAV file on standard input, got ${head.length} bytes`);
      await Promise.race([once(stream, 'readable'), once(stream, 'end')]);
      continue;
    }
    head = Buffer.concat([head, chunk]);
    const header = parseWavHeader(head);
    if (header === null) continue;
    stream.unshift(head.subarray(header.offset));
    return header;
  }
}
