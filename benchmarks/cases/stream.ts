/** Live sessions in real time: how late their messages are, how many fit on the machine, and the cost of a step. */

import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Stage } from '../../src/engine/execution.ts';
import type { LiveResult, LiveState } from '../../src/engine/live.ts';
import { warmUp } from '../../src/engine/warm-up.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { parseConfig } from '../../src/service/config.ts';
import { createRecording } from '../../src/service/live/recording.ts';
import { createSchedule } from '../../src/service/live/schedule.ts';
import { percentile } from '../../src/tools/evaluate/statistics.ts';
import { type Figure, figure, type Row, reaches, withinLimit } from '../case.ts';
import { mainThreadMs } from '../process.ts';
import { buildService, type Service, startService, token } from '../service.ts';
import { speechFile } from '../speech.ts';

const long = process.argv.includes('--long');
const seconds = long ? 60 : 24;
const intervalSeconds = 3;
const mono = { sampleRate: 16_000, channels: 1 };
const stereo = { sampleRate: 48_000, channels: 2 };
const stereoSessions = 4;
const steps = long ? [20, 40, 50, 60, 70, 80, 90, 100, 120] : [20, 40, 60, 80, 100];
const maxLateMs = 1000;
const wavHeaderBytes = 44;

const p99 = (late: readonly Lateness[], type?: string): Figure | null => {
  const ms = late.filter((one) => type === undefined || one.type === type).map((one) => one.ms);
  const value = percentile(ms, 0.99);
  return value === null ? null : figure([value]);
};

export async function run(): Promise<readonly Row[]> {
  buildService();
  const samples = speechFile(seconds).subarray(wavHeaderBytes);
  const decided = await decide(samples, mono, intervalSeconds);
  const speech = { samples, ...mono, intervalSeconds, decisions: decided.decisions };
  const service = await startService({ UNDERTONE_WORKERS: '2', UNDERTONE_STREAM_SESSIONS: '1000' });
  await streamAtOnce(service.port, 2, speech);
  const ten = await streamAtOnce(service.port, 10, speech);
  const twenty = await streamAtOnce(service.port, 20, speech);
  const stereoSamples = upsample(samples);
  const inStereo = await decide(stereoSamples, stereo, intervalSeconds);
  const perSecond = await mainThreadPerSecond(service, {
    samples: stereoSamples,
    ...stereo,
    intervalSeconds,
    decisions: inStereo.decisions,
  });
  const most = await capacity(service.port, speech);
  await service.stop();
  const note = `${seconds} s of speech, two workers`;
  return [
    withinLimit(100, '`turn` after its last sample, p99, 10 sessions', 'ms', p99(ten, 'turn'), note),
    withinLimit(
      250,
      '`measurement` after its last sample, p99, 20 sessions',
      'ms',
      p99(twenty, 'measurement'),
      note,
    ),
    reaches(60, `sessions before p99 passes ${maxLateMs} ms`, 'sessions', most.sessions, most.note),
    ...stepRows(decided.steps),
    ...stageRows(decided.steps),
    informational(
      'stage decode of 48 kHz stereo, with resampling',
      figure(stageMs(inStereo.steps, 'decode')),
    ),
    informational(
      'main thread per second of audio, 48 kHz stereo',
      figure([perSecond]),
      `${stereoSessions} sessions`,
    ),
  ];
}

async function mainThreadPerSecond(
  { pid, port }: Pick<Service, 'pid' | 'port'>,
  speech: Speech,
): Promise<number> {
  const before = mainThreadMs(pid);
  await streamAtOnce(port, stereoSessions, speech);
  return (mainThreadMs(pid) - before) / (stereoSessions * seconds);
}

/** Mono samples -> 48 kHz, in two equal channels. */
function upsample(bytes: Uint8Array): Uint8Array {
  const samples = new Int16Array(new Uint8Array(bytes).buffer);
  const factor = (stereo.sampleRate * stereo.channels) / mono.sampleRate;
  const repeated = Int16Array.from(
    { length: factor * samples.length },
    (_, at) => samples[Math.floor(at / factor)] as number,
  );
  return new Uint8Array(repeated.buffer);
}

/** The largest number of sessions of `steps` up to the first whose messages are late. */
async function capacity(port: number, speech: Speech) {
  let sessions = 0;
  const tried: string[] = [];
  for (const next of steps) {
    const late = p99(await streamAtOnce(port, next, speech))?.median ?? Number.POSITIVE_INFINITY;
    tried.push(`${next}: ${late.toFixed(0)} ms`);
    if (late > maxLateMs) break;
    sessions = next;
  }
  return { sessions, note: `p99 of all messages, interval ${intervalSeconds} s; ${tried.join(', ')}` };
}

const informational = (name: string, ours: Figure | null, note = ''): Row => ({
  name,
  unit: 'ms',
  peer: null,
  ours,
  goal: 'none',
  ratio: null,
  met: ours !== null,
  note,
});

const sumOf = ({ stages }: StepStages) => stages.reduce((sum, { ms }) => sum + ms, 0);

function stepRows(all: readonly StepStages[]): Row[] {
  return [...new Set(all.map(({ kind }) => kind))].map((kind) => {
    const own = all.filter((step) => step.kind === kind);
    return informational(
      `a step with ${kind}`,
      figure(own.map(sumOf)),
      `${own.length} of ${all.length} steps`,
    );
  });
}

const stageMs = (all: readonly StepStages[], name: string) =>
  all.flatMap(({ stages }) => stages.filter((stage) => stage.name === name).map((stage) => stage.ms));

function stageRows(all: readonly StepStages[]): Row[] {
  const names = [...new Set(all.flatMap(({ stages }) => stages.map(({ name }) => name)))];
  return names.map((name) => {
    const ms = stageMs(all, name);
    return informational(`stage ${name}`, figure(ms), `in ${ms.length} of ${all.length} steps`);
  });
}

/** 16-bit samples. */
export type Speech = SpeechFormat & {
  readonly samples: Uint8Array;
  readonly intervalSeconds: number;
  readonly decisions: readonly Decision[];
};

type Lateness = { readonly type: string; readonly ms: number };

/** A frame as a browser sends it. */
const frameSeconds = 0.1;

/** From the sample that decides a message to the message. Expects the messages of `decisions`. */
async function streamOnce(port: number, speech: Speech, delayMs: number): Promise<Lateness[]> {
  const { samples, sampleRate, channels, intervalSeconds, decisions } = speech;
  await sleep(delayMs);
  const headers = { Authorization: `Bearer ${token}` };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/stream`, 'undertone.v1', { headers });
  const received: { readonly type: string; readonly at: number }[] = [];
  socket.on('message', (text) => {
    const { type } = JSON.parse(String(text)) as { readonly type: string };
    received.push({ type, at: performance.now() });
  });
  await once(socket, 'open');
  const format = { encoding: 's16le', sample_rate_hz: sampleRate, channels, interval_s: intervalSeconds };
  socket.send(JSON.stringify({ type: 'session.configure', ...format }));
  const started = performance.now();
  const sentAt: number[] = [];
  const sampleBytes = 2 * channels;
  const frameBytes = sampleBytes * Math.round(frameSeconds * sampleRate);
  for (let from = 0; from < samples.length; from += frameBytes) {
    const due = started + (1000 * (from + frameBytes)) / (sampleBytes * sampleRate);
    await sleep(Math.max(0, due - performance.now()));
    socket.send(samples.subarray(from, from + frameBytes));
    sentAt.push(performance.now());
  }
  while (received.length <= decisions.length && socket.readyState === WebSocket.OPEN) await sleep(10);
  socket.close();
  const [, ...messages] = received;
  return decisions.map(({ type, seconds }, index) => {
    const message = messages[index];
    if (message?.type !== type) throw new Error(`Expected ${type} as message ${index}, got ${message?.type}`);
    const frame = Math.ceil(seconds / frameSeconds - 1e-6) - 1;
    return { type, ms: message.at - (sentAt[frame] as number) };
  });
}

/** Sessions start evenly within one interval, so that their measurements do not coincide. */
export async function streamAtOnce(port: number, sessions: number, speech: Speech): Promise<Lateness[]> {
  const spread = (1000 * speech.intervalSeconds) / sessions;
  const each = Array.from({ length: sessions }, (_, index) => streamOnce(port, speech, index * spread));
  return (await Promise.all(each)).flat();
}

/** A provisional message, and the sample that decides it. */
type Decision = { readonly type: string; readonly seconds: number };
type SpeechFormat = { readonly sampleRate: number; readonly channels: number };
type StepStages = { readonly kind: string; readonly stages: readonly Stage[] };

const signals = ['emotion', 'cognitive'] as const;

/** @param samples 16-bit, without a header */
export async function decide(
  samples: Uint8Array,
  { sampleRate, channels }: SpeechFormat,
  intervalSeconds: number,
) {
  const analyzer = await createAnalyzer(parseConfig({}));
  await warmUp(analyzer);
  const format = { encoding: 's16le', sampleRate, channels } as const;
  const recording = createRecording(format);
  recording.append(samples);
  const schedule = createSchedule({ sample_rate_hz: sampleRate, interval_s: intervalSeconds });
  const decisions: Decision[] = [];
  const steps: StepStages[] = [];
  let state: LiveState | null = null;
  for (const { start, end, ...step } of schedule.advance(recording.frames())) {
    const bytes = recording.slice(start, end);
    const request = { ...step, format, bytes, state, signals, split: false, speakers: null, cancel: null };
    const { messages, stages, ...after }: LiveResult = await analyzer.live(request);
    state = after.state;
    decisions.push(...messages.map(({ type }) => ({ type, seconds: end / sampleRate })));
    steps.push({ kind: describeStep(messages), stages });
  }
  return { decisions, steps };
}

function describeStep(messages: readonly { readonly type: string }[]): string {
  const has = (wanted: string) => messages.some(({ type }) => type === wanted);
  if (has('measurement')) return has('turn') ? 'a measurement and an utterance' : 'a measurement';
  return has('turn') ? 'an utterance' : 'speech activity alone';
}
