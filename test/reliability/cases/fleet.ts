/** Three hosts behind HAProxy: one is killed, all are restarted in turn, the database and Redis go away. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Fleet, startFleet } from '../../../deploy/fleet/fleet.ts';
import type { Host } from '../../../deploy/fleet/host.ts';
import { createToken, revokeToken } from '../../../deploy/fleet/tokens.ts';
import { atMost, exactly, type Options, type Row, told, within } from '../case.ts';
import { checkBulk } from '../fleet/bulk.ts';
import { checkJobs } from '../fleet/jobs.ts';
import {
  analyzeStatus,
  begunBetween,
  failures,
  remaining,
  startTraffic,
  type Traffic,
} from '../fleet/traffic.ts';
import { eventually, patienceMs } from '../load/footprint.ts';
import { buildService } from '../service.ts';

/** Each loop has one request under way. */
const loops = 4;
const settleMs = 2000;
/** Out of reach of every check: only what is left of it is looked at. */
const requestsAMinute = 1_000_000;

export async function run({ long }: Options): Promise<readonly Row[]> {
  buildService();
  const fleet = await startFleet({ UNDERTONE_RATE_LIMIT: `${requestsAMinute}/60` });
  try {
    return [
      ...(await checkTokens(fleet, long)),
      ...(await checkKill(fleet)),
      ...(await checkRollingRestart(fleet)),
      ...(await checkDatabaseAway(fleet, long ? 60_000 : 6000)),
      ...(await checkRedisAway(fleet)),
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
  while (!statuses.every((status) => status === 401) && performance.now() - revokedAt < patienceMs) {
    await sleep(100);
    statuses = await ask();
  }
  const seconds = (performance.now() - revokedAt) / 1000;
  return [
    exactly(3, {
      name: 'hosts that take a new token at once',
      unit: 'of 3',
      value: made.filter((status) => status === 200).length,
    }),
    within(
      5,
      { long },
      {
        name: 'until every host refuses a revoked token',
        unit: 's',
        value: statuses.every((status) => status === 401) ? seconds : null,
      },
    ),
  ];
}

/** Both kinds of client at once: one that takes the first answer, one that asks again as documented. */
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
    const late = failures(begunBetween(first, killedAt, Number.POSITIVE_INFINITY));
    return [
      told({
        name: 'kill -9 of a host: requests in all',
        unit: 'requests',
        value: first.length + again.length,
      }),
      atMost(loops, {
        name: 'requests under way that fail',
        unit: 'requests',
        value: failures(first).length - late.length,
        note: `of ${loops} under way on all hosts`,
      }),
      exactly(0, {
        name: 'later requests that fail',
        unit: 'requests',
        value: late.length,
        note: faultsOf(late),
      }),
      exactly(0, {
        name: 'requests that fail for clients that retry',
        unit: 'requests',
        value: failures(again).length,
        note: faultsOf(failures(again)),
      }),
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
      told({ name: 'rolling restart: requests in all', unit: 'requests', value: plain.outcomes.length }),
      exactly(0, { name: 'requests lost', unit: 'requests', value: lost.length, note: faultsOf(lost) }),
      exactly(0, {
        name: 'hosts that ended with an error',
        unit: 'of 3',
        value: codes.filter((code) => code !== 0).length,
      }),
    ];
  });
}

async function checkDatabaseAway(fleet: Fleet, ms: number): Promise<Row[]> {
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
    const during = begunBetween(await plain.stop(), from, to);
    return [
      told({ name: 'database away: seconds', unit: 's', value: (to - from) / 1000 }),
      exactly(0, {
        name: 'requests with known tokens that fail',
        unit: `of ${during.length}`,
        value: failures(during).length,
        note: faultsOf(failures(during)),
      }),
      exactly(3, {
        name: 'hosts that answer 503 to an unknown token',
        unit: 'of 3',
        value: refused.filter((status) => status === 503).length,
      }),
      exactly(3, {
        name: 'hosts that take it when the database is back',
        unit: 'of 3',
        value: accepted.filter((status) => status === 200).length,
      }),
    ];
  });
}

/** What is left of a limit is told by header: of all hosts together, or of each alone while Redis is away. */
async function checkRedisAway(fleet: Fleet): Promise<Row[]> {
  const token = createToken(fleet, 'limited');
  const used = async () => {
    const counts: number[] = [];
    for (const { url } of fleet.hosts) counts.push(requestsAMinute - (await remaining(url, token)));
    return counts.join(' ');
  };
  const together = await used();
  const earlier = fleet.hosts.map((host) => host.log().length);
  const hostsThatSay = (words: string) =>
    fleet.hosts.filter((host, index) => host.log().slice(earlier[index]).includes(words)).length;
  await fleet.redis.stop();
  await eventually(() => hostsThatSay('Redis cannot be reached') === 3);
  const alone = await used();
  const logged = hostsThatSay('Redis cannot be reached');
  await fleet.redis.start();
  await eventually(() => hostsThatSay('Redis is back') === 3);
  const again = await used();
  const same = (name: string, counts: string, wanted: string) =>
    exactly(1, { name, unit: 'as wanted', value: counts === wanted ? 1 : 0, note: `counted ${counts}` });
  return [
    same('a limit is counted for all hosts together', together, '1 2 3'),
    same('Redis away: each host counts for itself', alone, '1 1 1'),
    exactly(3, { name: 'hosts that say so in their log', unit: 'of 3', value: logged }),
    same('Redis back: together again', again, '1 2 3'),
  ];
}
