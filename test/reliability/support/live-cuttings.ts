/** Streams of the same samples, cut into frames at random: their messages, and the report of an upload. */

import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { root } from '../../../benchmarks/case.ts';
import { fixturesFolder } from '../../../scripts/recordings.ts';
import { wavHeader } from '../../../src/engine/pcm.ts';
import { analyzeFile, connectStream } from '../../support/stream-client.ts';
import { exactly, informational, type Row } from '../case.ts';
import { inParallel } from './parallel.ts';
import { createPrng, type Prng } from './prng.ts';
import type { Server } from './service.ts';

type Cut = {
  /** Positions in the samples, in bytes. */
  readonly at: readonly number[];
  readonly prng: Prng;
  /** Negative control: the last frame is not sent. */
  readonly lossy: boolean;
};

const requestId = 'the-same';
const clients = 4;
const maxFrame = 2 ** 20;

function randomCut({ samples: { length } }: Recording, prng: Prng, lossy: boolean): Cut {
  const count = prng.pick([1, 3, 10, 100, 400]);
  const at = Array.from({ length: count }, () => prng.below(length));
  // Frames of one byte.
  const from = prng.below(length);
  if (prng.oneIn(3)) at.push(...Array.from({ length: 50 }, (_, index) => from + index));
  return { at, prng, lossy };
}

function boundsOf({ samples: { length }, turnAt }: Recording, cut: Cut | null): number[] {
  const whole = Array.from({ length: Math.floor(length / maxFrame) }, (_, index) => (index + 1) * maxFrame);
  const inside = [...whole, ...(cut?.at ?? []), turnAt].filter((at) => at > 0 && at < length);
  return [...new Set([...inside, length])].sort((a, b) => a - b);
}

/** Every message of a session. @param cut null: in as few frames as possible */
async function stream(server: Server, recording: Recording, cut: Cut | null): Promise<readonly string[]> {
  const { format, samples, turnAt } = recording;
  const { port, token } = server;
  const session = await connectStream(port, { token, headers: { 'X-Request-Id': requestId } });
  session.send({ type: 'session.configure', interval_s: 1, ...format });
  const bounds = boundsOf(recording, cut);
  let from = 0;
  for (const to of cut?.lossy ? bounds.slice(0, -1) : bounds) {
    session.socket.send(samples.subarray(from, to));
    if (to === turnAt) session.send({ type: 'turn.end' });
    if (cut?.prng.oneIn(20)) await setImmediate();
    if (cut?.prng.oneIn(200)) session.send({ type: 'keep_alive' });
    from = to;
  }
  session.send({ type: 'session.end' });
  await session.closed;
  return session.texts;
}

async function upload({ port, token }: Server, { format, samples }: Recording): Promise<string> {
  const header = wavHeader({ ...format, sampleRate: format.sample_rate_hz }, samples.length);
  return (await analyzeFile(port, token, Buffer.concat([header, samples]), requestId)).body;
}

/** Bytes that differ between the report in the messages and the one of an upload. */
function differingBytes(texts: readonly string[], body: string): number {
  const final = texts.find((text) => text.startsWith('{"type":"final"')) ?? '';
  const report = final.slice(final.indexOf('"report":') + '"report":'.length, -1);
  const length = Math.max(report.length, body.length);
  let differing = 0;
  for (let at = 0; at < length; at++) if (report[at] !== body[at]) differing++;
  return differing;
}

/** Messages that are not those of the uncut stream, at their place. */
function differingMessages(texts: readonly string[], whole: readonly string[]): number {
  const length = Math.max(texts.length, whole.length);
  return Array.from({ length }, (_, at) => at).filter((at) => texts[at] !== whole[at]).length;
}

type Load = { readonly recordings: number; readonly cuttings: number; readonly lossy?: boolean };

export async function cuttingRows(
  server: Server,
  { recordings, cuttings, lossy = false }: Load,
  seed: number,
): Promise<Row[]> {
  const made = await makeRecordings(recordings, seed);
  const notable = made.filter(({ samples }) => samples.length > 0);
  let bytes = 0;
  const wrong = new Set<string>();
  const references = await inParallel(notable, clients, async (recording) => {
    const [texts, body] = await Promise.all([stream(server, recording, null), upload(server, recording)]);
    const differing = body.startsWith('{"status"') ? differingBytes(texts, body) : 0;
    if (differing > 0) wrong.add(recording.name);
    bytes += differing;
    return texts;
  });
  const cuts = Array.from({ length: cuttings }, (_, index) => index);
  const counts = await inParallel(
    cuts,
    clients,
    async (index) => {
      const at = index % notable.length;
      const recording = notable[at] as Recording;
      const cut = randomCut(recording, createPrng(seed, 1, index), lossy);
      const differing = differingMessages(await stream(server, recording, cut), references[at] ?? []);
      if (differing > 0) wrong.add(`cutting ${index}: ${recording.name}`);
      return differing;
    },
    'cuttings',
  );
  const sum = counts.reduce((total, count) => total + count, 0);
  const messages = references.reduce((total, texts) => total + texts.length, 0);
  const note = [...wrong].slice(0, 4).join('; ');
  return [
    informational('cuttings into frames', 'streams', cuttings, `of ${notable.length} recordings`),
    exactly(0, 'messages that differ', 'messages', sum, note || `${messages} messages uncut`),
    exactly(0, 'bytes of `final` that differ from an upload', 'bytes', bytes, note),
  ];
}

// Samples of many kinds, made by ffmpeg.

type Recording = {
  readonly name: string;
  readonly format: {
    readonly encoding: keyof typeof formats;
    readonly sample_rate_hz: number;
    readonly channels: number;
  };
  readonly samples: Buffer;
  /** The application ends a turn after these bytes. */
  readonly turnAt: number;
};

const execute = promisify(execFile);
const rates = [8000, 11_025, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000];
/** ffmpeg's names of the raw formats. */
const formats = { s16le: 's16le', f32le: 'f32le', mulaw: 'mulaw', alaw: 'alaw' } as const;
const bytesPerSample = { s16le: 2, f32le: 4, mulaw: 1, alaw: 1 };

const file = (path: string) => (prng: Prng) => [
  '-stream_loop',
  '-1',
  '-ss',
  (4 * prng.next()).toFixed(3),
  '-i',
  path,
];
const lavfi = (source: (prng: Prng) => string) => (prng: Prng) => ['-f', 'lavfi', '-i', source(prng)];
const speech = file(join(fixturesFolder(), 'speech.wav'));
const sources: Readonly<Record<string, (prng: Prng) => string[]>> = {
  speech,
  'speech, quiet or clipped': speech,
  'speech with pauses': speech,
  'another voice': file(join(root, 'examples/sample.wav')),
  noise: lavfi(({ pick, below }) => `anoisesrc=c=${pick(['white', 'pink', 'brown'])}:seed=${below(1e6)}`),
  tone: lavfi(({ below }) => `sine=f=${80 + below(2000)}`),
  silence: lavfi(() => 'anullsrc'),
};
const names = Object.keys(sources);

function filterOf(name: string, { next }: Prng): string {
  if (name.includes('pauses')) return "volume=0:enable='gt(mod(t,1.3),0.8)'";
  const gain = name.includes('clipped') ? 80 * next() - 50 : 12 * next() - 6;
  return `volume=${gain.toFixed(1)}dB`;
}

/** Mostly short: the time is spent on many of them. */
function secondsOf({ next, oneIn }: Prng): number {
  return oneIn(40) ? 10 + 15 * next() : 0.02 + 4 * next() ** 2;
}

async function makeRecording(index: number, seed: number): Promise<Recording> {
  const prng = createPrng(seed, index);
  const name = names[index % names.length] as string;
  const encoding = prng.pick(Object.keys(formats) as (keyof typeof formats)[]);
  const sample_rate_hz = prng.oneIn(4) ? 8000 + prng.below(40_001) : prng.pick(rates);
  const channels = 1 + prng.below(2);
  const input = sources[name]?.(prng) ?? [];
  const layout = ['-t', secondsOf(prng).toFixed(4), '-ac', `${channels}`, '-ar', `${sample_rate_hz}`];
  const options = ['-nostdin', '-v', 'error', ...input, '-af', filterOf(name, prng), ...layout];
  const { stdout } = await execute('ffmpeg', [...options, '-f', formats[encoding], 'pipe:1'], {
    encoding: 'buffer',
    maxBuffer: 2 ** 28,
  });
  return {
    name: `${name}, ${encoding} at ${sample_rate_hz} Hz, ${channels} channels`,
    format: { encoding, sample_rate_hz, channels },
    samples: stdout,
    turnAt: prng.below(stdout.length / bytesPerSample[encoding]) * bytesPerSample[encoding],
  };
}

function makeRecordings(count: number, seed: number): Promise<Recording[]> {
  const indexes = Array.from({ length: count }, (_, index) => index);
  return inParallel(indexes, 2, (index) => makeRecording(index, seed), 'making recordings');
}
