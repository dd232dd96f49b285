/** Three hosts behind HAProxy: a kill, a rolling restart, and loss of the database. */
import { setTimeout as sleep } from 'node:timers/promises';
import { speechFile } from '../../../benchmarks/speech.ts';
import { createClient } from '../../../clients/typescript/src/index.ts';
import { type Fleet, startFleet } from '../../../deploy/fleet/fleet.ts';
import type { Host } from '../../../deploy/fleet/host.ts';
import { createToken } from '../../../deploy/fleet/tokens.ts';
import { atMost, exactly, informational, none, type Options, type Row } from '../case.ts';
import { eventually } from '../support/footprint.ts';
import { buildService } from '../support/service.ts';

/** Each loop has one request under way. */
const loops = 4;
const settleMs = 2000;

export async function run({ long }: Options): Promise<readonly Row[]> {
  buildService();
  const fleet = await startFleet({ UNDERTONE_RATE_LIMIT: '1000000/60' });
  try {
    return [
      ...(await checkKill(fleet)),
      ...(await checkRollingRestart(fleet)),
      ...(await checkDatabaseLoss(fleet, long ? 60_000 : 6000)),
    ];
  } finally {
    await fleet.stop();
  }
}

/** Two clients: one does not retry, one follows the documented retry policy. */
async function under<Result>(
  fleet: Fleet,
  name: string,
  work: (traffic: { readonly plain: Traffic; readonly patient: Traffic }) => Promise<Result>,
): Promise<Result> {
  const token = createToken(fleet, name);
  const plain = startTraffic(fleet.url, token, loops, 0);
  const patient = startTraffic(fleet.url, token, loops, 4);
  await sleep(settleMs);
  try {
    return await work({ plain, patient });
  } finally {
    await Promise.all([plain.stop(), patient.stop()]);
  }
}

const faultsOf = (outcomes: Traffic['outcomes']) => failures(outcomes).map(({ fault }) => String(fault));

async function checkKill(fleet: Fleet): Promise<Row[]> {
  const [victim] = fleet.hosts as [Host, ...Host[]];
  return await under(fleet, 'kill', async ({ plain, patient }) => {
    await victim.stop('SIGKILL');
    const killedAt = performance.now();
    await sleep(3 * settleMs);
    await victim.start();
    await sleep(settleMs);
    const [first, again] = await Promise.all([plain.stop(), patient.stop()]);
    const late = startedBetween(first, killedAt, Number.POSITIVE_INFINITY);
    const inFlight = failures(first).length - failures(late).length;
    return [
      informational('kill -9 of a host: requests in all', 'requests', first.length + again.length),
      atMost(
        loops,
        'requests in flight that fail',
        'requests',
        inFlight,
        `of ${loops} under way on all hosts`,
      ),
      none('later requests that fail', faultsOf(late), late.length),
      none('requests that fail for clients that retry', faultsOf(again), again.length),
    ];
  });
}

async function checkRollingRestart(fleet: Fleet): Promise<Row[]> {
  return await under(fleet, 'restart', async ({ plain }) => {
    const codes: (number | null)[] = [];
    for (const host of fleet.hosts) {
      codes.push(await host.stop('SIGTERM'));
      await host.start();
      await sleep(settleMs);
    }
    const outcomes = await plain.stop();
    return [
      none('rolling restart: requests lost', faultsOf(outcomes), outcomes.length),
      exactly(0, 'hosts that exited with an error', 'of 3', codes.filter((code) => code !== 0).length),
    ];
  });
}

async function checkDatabaseLoss(fleet: Fleet, ms: number): Promise<Row[]> {
  const unused = createToken(fleet, 'unused');
  const statuses = () => Promise.all(fleet.hosts.map(({ url }) => analyzeStatus(url, unused)));
  const hostsThatAnswer = (status: number, found: readonly number[]) =>
    found.filter((one) => one === status).length;
  return await under(fleet, 'away', async ({ plain }) => {
    const from = performance.now();
    fleet.postgres.stop();
    await sleep(ms / 2);
    const refused = await statuses();
    await sleep(ms / 2);
    const to = performance.now();
    fleet.postgres.start();
    let accepted = 0;
    await eventually(async () => {
      accepted = hostsThatAnswer(200, await statuses());
      return accepted === fleet.hosts.length;
    });
    const during = startedBetween(await plain.stop(), from, to);
    return [
      informational('database unreachable: seconds', 's', (to - from) / 1000),
      none('requests with known tokens that fail', faultsOf(during), during.length),
      exactly(3, 'hosts that answer 503 to an unknown token', 'of 3', hostsThatAnswer(503, refused)),
      exactly(3, 'hosts that accept it when the database is back', 'of 3', accepted),
    ];
  });
}

// Loops of sequential requests until stopped, with the outcome of each.

type Outcome = {
  /** By performance.now(). */
  readonly startedAt: number;
  readonly endedAt: number;
  /** Null for 200; else the status or the connection error. */
  readonly fault: string | null;
};

type Traffic = {
  readonly outcomes: readonly Outcome[];
  /** Resolves when the last requests are answered. */
  stop(): Promise<readonly Outcome[]>;
};

const recording = new Blob([new Uint8Array(speechFile(10))], { type: 'audio/wav' });

/** `retries`: 0 or the documented policy. */
function startTraffic(url: string, token: string, loops: number, retries: number): Traffic {
  const client = createClient({ url, token, retries });
  const outcomes: Outcome[] = [];
  let going = true;
  async function loop(): Promise<void> {
    while (going) {
      const startedAt = performance.now();
      const fault = await client.emotion(recording).then(() => null, describe);
      outcomes.push({ startedAt, endedAt: performance.now(), fault });
    }
  }
  const running = Array.from({ length: loops }, loop);
  const stop = async () => {
    going = false;
    await Promise.all(running);
    return outcomes;
  };
  return { outcomes, stop };
}

function describe(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

const failures = (outcomes: readonly Outcome[]) => outcomes.filter(({ fault }) => fault !== null);

/** Requests that started within an interval. */
function startedBetween(outcomes: readonly Outcome[], from: number, to: number): Outcome[] {
  return outcomes.filter(({ startedAt }) => startedAt >= from && startedAt < to);
}

async function analyzeStatus(url: string, token: string): Promise<number> {
  const form = new FormData();
  form.append('audio', recording);
  const headers = { Authorization: `Bearer ${token}` };
  const answer = await fetch(`${url}/v1/analyze/emotion`, { method: 'POST', headers, body: form });
  await answer.body?.cancel();
  return answer.status;
}
