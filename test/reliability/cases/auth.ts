/** Timing of token checks, log-in limits, and data that remains after a request. */
import { createTokenSecret, randomBase62 } from '../../../src/auth/token-format.ts';
import { guessesAt, overHttp, type Target, verifierTargets } from '../auth/guesses.ts';
import { earlyRow, guessingRows, overLogIn, withoutLimits, withReader } from '../auth/guessing.ts';
import { retentionRows } from '../auth/retention.ts';
import { earlyExitCheck, timeClasses } from '../auth/timing.ts';
import { atMost, negativeControl, type Options, type Row } from '../case.ts';
import { createPrng } from '../support/prng.ts';
import { buildService, withServer } from '../support/service.ts';

/** Of t: chance alone passes it once in 150,000 runs. */
const maxT = 4.5;
const rounds = 3;
/** Timings of each class: of the check itself, and through a socket. */
const timings = { long: { check: 100_000, http: 100_000 }, short: { check: 20_000, http: 1000 } };

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  buildService();
  const number = long ? timings.long : timings.short;
  const random = createPrng(seed).next;
  return [
    ...(await timingRows(await verifierTargets(), count ?? number.check, random)),
    await timingControl(count ?? number.check, random),
    ...(await serverRows(count ?? number.http, random)),
    ...(await retentionRows('throwing-host')),
    negativeControl(
      'a service that stores requests',
      await retentionRows('throwing-host', 'request-recorder'),
    ),
  ];
}

async function timingRows(targets: readonly Target[], perClass: number, random: () => number) {
  const rows: Row[] = [];
  for (const { name, guess, classes } of targets) {
    const measured: number[] = [];
    // A real difference shows in every round; the effect of other load does not.
    while (measured.length < rounds && !measured.some((t) => t <= maxT)) {
      console.error(`${perClass} timings of each class: ${name}`);
      measured.push(await timeClasses(guess, classes, perClass, random));
    }
    const note = `${perClass.toLocaleString('en')} guesses of each kind; rounds: ${measured.map((t) => t.toFixed(1)).join(', ')}`;
    rows.push(atMost(maxT, `t of guesses at ${name}`, '', Math.min(...measured), note));
  }
  return rows;
}

async function timingControl(perClass: number, random: () => number): Promise<Row> {
  const token = randomBase62(64);
  const target = {
    name: 'a comparison that stops at the first difference',
    guess: earlyExitCheck(token),
    classes: guessesAt(token),
  };
  return negativeControl(target.name, await timingRows([target], perClass, random));
}

async function serverRows(perClass: number, random: () => number): Promise<Row[]> {
  const token = randomBase62(64);
  const heads = {
    'no token': '',
    'another scheme': 'Authorization: Basic YTpi',
    'a token of nobody': `Authorization: Bearer ${createTokenSecret()}`,
    'no token at all, by its form': 'Authorization: Bearer x',
  };
  return withServer({ UNDERTONE_TOKEN: token, UNDERTONE_LOG_LEVEL: 'warn' }, async (server) => {
    const target = {
      name: 'UNDERTONE_TOKEN through a socket',
      guess: overHttp(server),
      classes: guessesAt(token),
    };
    return [
      ...(await timingRows([target], perClass, random)),
      await earlyRow(server.port, heads),
      negativeControl('a body read before the check', [
        await withReader((port) => earlyRow(port, { any: '' }, 2000)),
      ]),
      ...(await guessingRows(overLogIn(server))),
      negativeControl('no limits', await guessingRows(withoutLimits())),
    ];
  });
}
