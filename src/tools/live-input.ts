/** Samples that arrive while they are recorded: a microphone, or standard input. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Readable } from 'node:stream';
import type { Encoding, SampleFormat } from '../engine/index.ts';
import { type CliContext, UsageError } from './context.ts';

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

// The header of a WAV file that is still being written: its sizes may be unknown.

type WavHeader = {
  readonly format: SampleFormat;
  /** Of the first sample. */
  readonly offset: number;
  /** Length of the samples; infinite if the header does not have it. */
  readonly bytes: number;
};

/** By format tag and bits of a sample. */
const encodings: Readonly<Record<string, Encoding>> = {
  '1/16': 's16le',
  '3/32': 'f32le',
  '6/8': 'alaw',
  '7/8': 'mulaw',
};
/** The tag stands in the subformat. */
const extensible = 0xfffe;
/** Written by programs that do not know the length: 0, and values near the maximum. */
const maxKnownBytes = 0x7fff_0000;
const maxHeaderBytes = 2 ** 20;
const conversion = 'convert it: ffmpeg -i FILE -ac 1 -ar 16000 -f wav -';

/** Returns null when more bytes are needed. @throws UsageError */
function parseWavHeader(bytes: Buffer): WavHeader | null {
  if (
    bytes.length >= 12 &&
    `${bytes.toString('latin1', 0, 4)}${bytes.toString('latin1', 8, 12)}` !== 'RIFFWAVE'
  ) {
    throw new UsageError(
      `Expected a WAV file on standard input, or raw samples and --encoding, got something else; ${conversion}`,
    );
  }
  if (bytes.length > maxHeaderBytes)
    throw new UsageError('Expected a WAV header of up to 1 MiB, got a longer one');
  let format: SampleFormat | null = null;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const name = bytes.toString('latin1', at, at + 4);
    const size = bytes.readUInt32LE(at + 4);
    const body = at + 8;
    if (name === 'data') {
      if (format === null) throw new UsageError('Expected a WAV file with `fmt `, got none');
      const isKnown = size > 0 && size < maxKnownBytes;
      return { format, offset: body, bytes: isKnown ? size : Number.POSITIVE_INFINITY };
    }
    if (name === 'fmt ' && body + size <= bytes.length)
      format = parseFormat(bytes.subarray(body, body + size));
    at = body + size + (size % 2);
  }
  return null;
}

function parseFormat(chunk: Buffer): SampleFormat {
  if (chunk.length < 16) throw new UsageError('Expected a whole `fmt ` of the WAV file, got a part');
  const tag = chunk.readUInt16LE(0);
  const codec = tag === extensible && chunk.length >= 26 ? chunk.readUInt16LE(24) : tag;
  const bits = chunk.readUInt16LE(14);
  const encoding = encodings[`${codec}/${bits}`];
  const channels = chunk.readUInt16LE(2);
  if (encoding === undefined || (channels !== 1 && channels !== 2)) {
    const got = `format ${codec} with ${bits} bits and ${channels} channels`;
    throw new UsageError(
      `Expected 16-bit, 32-bit float or G.711 samples of 1 or 2 channels, got ${got}; ${conversion}`,
    );
  }
  return { encoding, sampleRate: chunk.readUInt32LE(4), channels };
}
