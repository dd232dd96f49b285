/** Three hosts behind HAProxy: a kill, a rolling restart, and loss of the database and Redis. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fleet, startFleet } from '../../../deploy/fleet/fleet.ts';
import type { Host } from '../../../deploy/fleet/host.ts';
import { createToken, revokeToken } from '../../../deploy/fleet/tokens.ts';
import { atMost, exactly, informational, type Options, type Row, within } from '../case.ts';
import { checkBulk } from '../fleet/bulk.ts';
import { checkJobs } from '../fleet/jobs.ts';
import {
  analyzeStatus,
  failures,
  remaining,
  startedBetween,
  startTraffic,
  type Traffic,
} from '../fleet/traffic.ts';
import { eventually, maxWaitMs } from '../support/footprint.ts';
import { buildService } from '../support/service.ts';

/** Each loop has one request under way. */
const loops = 4;
const settleMs = 2000;
/** Never reached: only the remaining count is read. */
const requestsAMinute = 1_000_000;

export async function run({ long }: Options): Promise<readonly Row[]> {
  buildService();
  const fleet = await startFleet({ UNDERTONE_RATE_LIMIT: `${requestsAMinute}/60` });
  try {
    return [
      ...(await checkTokens(fleet, long)),
      ...(await checkKill(fleet)),
      ...(await checkRollingRestart(fleet)),
      ...(await checkDatabaseLoss(fleet, long ? 60_000 : 6000)),
      ...(await checkRedisLoss(fleet)),
      ...(await checkJobs(fleet)),
      ...(await checkBulk(fleet, long ? (process.env.UNDERTONE_DATA ?? null) : null)),
    ];
  } finally {
    await fleet.stop();
  }
}

async function checkTokens(fleet: Fleet, long: boolean): Promise<Row[]> {
  const token = createToken(fleet, 'everywhere');
  const ask = () => Promise.all(fleet.hosts.map(({ url }) => analyzeStatus(url, token)));
  const made = await ask();
  revokeToken(fleet, 'everywhere');
  const revokedAt = performance.now();
  let statuses = await ask();
  while (!statuses.every((status) => status === 401) && performance.now() - revokedAt < maxWaitMs) {
    await sleep(100);
    statuses = await ask();
  }
  const seconds = (performance.now() - revokedAt) / 1000;
  return [
    exactly(
      3,
      'hosts that accept a new token at once',
      'of 3',
      made.filter((status) => status === 200).length,
    ),
    within(
      5,
      { long },
      'until every host refuses a revoked token',
      's',
      statuses.every((status) => status === 401) ? seconds : null,
    ),
  ];
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

async function checkKill(fleet: Fleet): Promise<Row[]> {
  const [victim] = fleet.hosts as [Host, ...Host[]];
  return await under(fleet, 'kill', async ({ plain, patient }) => {
    await victim.stop('SIGKILL');
    const killedAt = performance.now();
    await sleep(3 * settleMs);
    await victim.start();
    await sleep(settleMs);
    const [first, again] = await Promise.all([plain.stop(), patient.stop()]);
    const late = failures(startedBetween(first, killedAt, Number.POSITIVE_INFINITY));
    return [
      informational('kill -9 of a host: requests in all', 'requests', first.length + again.length),
      atMost(
        loops,
        'requests in flight that fail',
        'requests',
        failures(first).length - late.length,
        `of ${loops} under way on all hosts`,
      ),
      exactly(0, 'later requests that fail', 'requests', late.length, faultsOf(late)),
      exactly(
        0,
        'requests that fail for clients that retry',
        'requests',
        failures(again).length,
        faultsOf(failures(again)),
      ),
    ];
  });
}

const faultsOf = (outcomes: readonly { readonly fault: string | null }[]) =>
  [...new Set(outcomes.map(({ fault }) => fault))].join('; ');

async function checkRollingRestart(fleet: Fleet): Promise<Row[]> {
  return await under(fleet, 'restart', async ({ plain }) => {
    const codes: (number | null)[] = [];
    for (const host of fleet.hosts) {
      codes.push(await host.stop('SIGTERM'));
      await host.start();
      await sleep(settleMs);
    }
    const lost = failures(await plain.stop());
    return [
      informational('rolling restart: requests in all', 'requests', plain.outcomes.length),
      exactly(0, 'requests lost', 'requests', lost.length, faultsOf(lost)),
      exactly(0, 'hosts that exited with an error', 'of 3', codes.filter((code) => code !== 0).length),
    ];
  });
}

async function checkDatabaseLoss(fleet: Fleet, ms: number): Promise<Row[]> {
  const unused = createToken(fleet, 'unused');
  return await under(fleet, 'away', async ({ plain }) => {
    const from = performance.now();
    fleet.postgres.stop();
    await sleep(ms / 2);
    const refused = await Promise.all(fleet.hosts.map(({ url }) => analyzeStatus(url, unused)));
    await sleep(ms / 2);
    const to = performance.now();
    fleet.postgres.start();
    const ask = () => Promise.all(fleet.hosts.map(({ url }) => analyzeStatus(url, unused)));
    let accepted = await ask();
    await eventually(async () => {
      accepted = await ask();
      return accepted.every((status) => status === 200);
    });
    const during = startedBetween(await plain.stop(), from, to);
    return [
      informational('database unreachable: seconds', 's', (to - from) / 1000),
      exactly(
        0,
        'requests with known tokens that fail',
        `of ${during.length}`,
        failures(during).length,
        faultsOf(failures(during)),
      ),
      exactly(
        3,
        'hosts that answer 503 to an unknown token',
        'of 3',
        refused.filter((status) => status === 503).length,
      ),
      exactly(
        3,
        'hosts that accept it when the database is back',
        'of 3',
        accepted.filter((status) => status === 200).length,
      ),
    ];
  });
}

/** The remaining count is shared by all hosts, and per host without Redis. */
async function checkRedisLoss(fleet: Fleet): Promise<Row[]> {
  const token = createToken(fleet, 'limited');
  const used = async () => {
    const counts: number[] = [];
    for (const { url } of fleet.hosts) counts.push(requestsAMinute - (await remaining(url, token)));
    return counts.join(' ');
  };
  const together = await used();
  const earlier = fleet.hosts.map((host) => host.log().length);
  const hostsThatLog = (words: string) =>
    fleet.hosts.filter((host, index) => host.log().slice(earlier[index]).includes(words)).length;
  await fleet.redis.stop();
  await eventually(() => hostsThatLog('Redis cannot be reached') === 3);
  const alone = await used();
  const logged = hostsThatLog('Redis cannot be reached');
  await fleet.redis.start();
  await eventually(() => hostsThatLog('Redis is back') === 3);
  const again = await used();
  const same = (name: string, counts: string, wanted: string) =>
    exactly(1, name, 'as wanted', counts === wanted ? 1 : 0, `counted ${counts}`);
  return [
    same('a limit is counted for all hosts together', together, '1 2 3'),
    same('Redis unreachable: each host counts for itself', alone, '1 1 1'),
    exactly(3, 'hosts that log it', 'of 3', logged),
    same('Redis back: counted together again', again, '1 2 3'),
  ];
}
