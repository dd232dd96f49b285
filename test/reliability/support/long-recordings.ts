/** One account keeps the workers busy with long recordings; recordings and live sessions of another are not delayed. */
import { execFileSync } from 'node:child_process';
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { speechFile } from '../../../benchmarks/speech.ts';
import { multipart } from '../../../benchmarks/upload-body.ts';
import { connectStream, speechSamples } from '../../support/stream-client.ts';
import { atMost, none, type Row } from '../case.ts';
import { type Account, openAccount } from './account.ts';
import { analysis, exchange, speechUpload } from './requests.ts';
import { type Server, withServer } from './service.ts';

export type Goals = {
  /** How much later than alone. */
  readonly recordingSeconds: number;
  readonly measurementSeconds: number;
  /** Recordings of the other account. */
  readonly uploads: number;
};

const attacks = 8;
const settleMs = 3000;
const sessionSeconds = 8;
const blockSeconds = 0.25;
const patienceMs = 20_000;
const tenSeconds = speechUpload(10);

/** 15 minutes of Opus, 1.3 MB. */
function longRecording(): Buffer {
  const codec = ['-c:a', 'libopus', '-b:a', '12k', '-compression_level', '0', '-f', 'ogg', '-'];
  const args = ['-v', 'error', '-f', 'wav', '-i', '-', ...codec];
  return execFileSync('ffmpeg', args, { input: speechFile(899), maxBuffer: 2 ** 25 });
}

/** Alone, and with four equal baselines, which is refused once it exceeds the limit. */
function longUploads(): readonly Buffer[] {
  const bytes = longRecording();
  const baselines = Array.from({ length: 4 }, () => ({ name: 'baseline', bytes }));
  return [[], baselines].map((others) => multipart([{ name: 'audio', bytes }, ...others]));
}

/** Sends each upload again once it is answered. Resolves with the function that aborts it and returns the statuses. */
async function attack({ port }: Server, { token }: Account): Promise<() => Promise<number[]>> {
  const agent = new Agent();
  const bodies = longUploads();
  const statuses: number[] = [];
  let isOver = false;
  const repeat = async (body: Buffer) => {
    while (!isOver) {
      const { status } = await exchange({ ...analysis({ port, token }, body), agent });
      if (!isOver) statuses.push(status);
    }
  };
  const clients = Array.from({ length: attacks }, (_, index) => repeat(bodies[index % 2] as Buffer));
  await sleep(settleMs);
  return async () => {
    isOver = true;
    agent.destroy();
    await Promise.all(clients);
    return statuses;
  };
}

/** The slowest of sequential recordings, s; null when one was refused or took longer than `patienceMs`. */
async function timeRecordings({ port }: Server, { token }: Account, count: number) {
  let slowest = 0;
  for (let index = 0; index < count; index++) {
    const signal = AbortSignal.timeout(patienceMs);
    const { status, ms } = await exchange(analysis({ port, token }, tenSeconds, { signal }));
    if (status !== 200) return null;
    slowest = Math.max(slowest, ms / 1000);
  }
  return slowest;
}

/** The time from the last sample of a measurement to its arrival, the longest of a session, s; null without one. */
async function timeMeasurements({ port }: Server, { token }: Account): Promise<number | null> {
  const samples = speechSamples(sessionSeconds);
  const blockBytes = 32_000 * blockSeconds;
  const session = await connectStream(port, { token });
  const sentAt: number[] = [];
  const late: number[] = [];
  session.socket.on('message', (data) => {
    const { type, end_s: end } = JSON.parse(String(data));
    const sent = sentAt[Math.ceil(end / blockSeconds) - 1];
    if (type === 'measurement' && sent !== undefined) late.push((performance.now() - sent) / 1000);
  });
  const format = { encoding: 's16le', sample_rate_hz: 16_000, channels: 1 };
  session.send({ type: 'session.configure', ...format, interval_s: 1 });
  for (let at = 0; at < samples.length; at += blockBytes) {
    session.socket.send(samples.subarray(at, at + blockBytes));
    sentAt.push(performance.now());
    await sleep(1000 * blockSeconds);
  }
  session.send({ type: 'session.end' });
  await session.closed;
  return late.length === 0 ? null : Math.max(...late);
}

function later(during: number | null, before: number | null): number | null {
  return during === null || before === null ? null : during - before;
}

/** `sameOwner` is the negative control: shares of one owner cannot help its own recordings. */
export function longRecordingRows(env: Readonly<Record<string, string>>, goals: Goals, sameOwner = false) {
  return withServer({ ...env, UNDERTONE_WORKERS: '2' }, async (server): Promise<Row[]> => {
    const attacker = await openAccount(server, 'attacker-long');
    const other = sameOwner ? attacker : await openAccount(server, 'other-long');
    const before = await timeRecordings(server, other, goals.uploads);
    const measuredBefore = await timeMeasurements(server, other);
    const stop = await attack(server, attacker);
    const during = await timeRecordings(server, other, goals.uploads);
    const measured = await timeMeasurements(server, other);
    const statuses = await stop();
    const wrong = statuses.filter((status) => ![200, 422, 503].includes(status));
    const name = `${attacks} uploads of 15 minutes at once`;
    const alone = (value: number | null) => `${value?.toFixed(2)} s alone`;
    return [
      none(`${name}: answers but 200, 422 and 503`, wrong.map(String), statuses.length),
      atMost(
        goals.recordingSeconds,
        `${name}: 10 s of another account later by`,
        's',
        later(during, before),
        alone(before),
      ),
      atMost(
        goals.measurementSeconds,
        `${name}: a live measurement of another account later by`,
        's',
        later(measured, measuredBefore),
        alone(measuredBefore),
      ),
    ];
  });
}
