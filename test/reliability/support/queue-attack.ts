/** One owner fills the job queue and never answers callbacks; the jobs of another owner start and call back as before. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { speechFile } from '../../../benchmarks/speech.ts';
import { type JobReply, jobOf } from '../../support/jobs.ts';
import { atMost, exactly, type Row } from '../case.ts';
import { type Account, openAccount } from './account.ts';
import { eventually } from './footprint.ts';
import { type JobStack, withJobs, withListener } from './service.ts';

export type Load = {
  /** Requests of 1,000 URLs each; as many jobs fit into the queue. */
  readonly lists: number;
  readonly deadCallbacks: number;
  /** Number of jobs of the other owner, and the timeout of each. */
  readonly timed: number;
  readonly waitSeconds: number;
  /** The limit: seconds, plus a multiple of the time of a job without load. */
  readonly seconds: number;
  readonly times: number;
};

/** Serves recordings, answers callbacks to /hook at once and those to /dead never. */
type Peer = { readonly port: number; readonly calledAt: Map<string, number>; deadCalls(): number };

const listLength = 1000;
/** Loopback addresses that the dead callbacks are spread over: a limit per host does not bound their owner. */
const deadHosts = Array.from({ length: 8 }, (_, index) => `127.0.0.${index + 2}`);
const preparationMs = 120_000;
const pollMs = 20;
const short = speechFile(1, 1);
const tenSeconds = speechFile(10, 1);

type Setup = { readonly place: JobStack; readonly peer: Peer; readonly load: Load };
type Seconds = { readonly start: number; readonly callback: number };
const never: Seconds = { start: Number.POSITIVE_INFINITY, callback: Number.POSITIVE_INFINITY };

function withPeer<Result>(work: (peer: Peer) => Promise<Result>): Promise<Result> {
  const files: Readonly<Record<string, Buffer>> = {
    '/short': short,
    '/10-s': tenSeconds,
  };
  const calledAt = new Map<string, number>();
  let deadCalls = 0;
  const handle = ({ url = '', headers }: IncomingMessage, response: ServerResponse) => {
    if (files[url] !== undefined) return response.end(files[url]);
    if (url === '/dead') return deadCalls++;
    calledAt.set(String(headers['webhook-id']), performance.now());
    return response.writeHead(204).end();
  };
  return withListener(handle, (port) => work({ port, calledAt, deadCalls: () => deadCalls }), '0.0.0.0');
}

/** @returns the jobs, none when the queue refused them */
async function postList({ place }: Setup, { token }: Account, body: Readonly<Record<string, unknown>>) {
  const reply = await place.list(body, { Authorization: `Bearer ${token}` });
  if (reply.status === 503) return [];
  if (reply.status >= 300) throw new Error(`Expected jobs, got ${reply.status} ${reply.body}`);
  return (JSON.parse(reply.body) as { readonly jobs: readonly JobReply[] }).jobs;
}

/** Null when the job was refused. */
async function timeJob({ place, peer, load }: Setup, { token }: Account): Promise<Seconds | null> {
  const callback = { name: 'callback', bytes: `http://127.0.0.1:${peer.port}/hook` };
  const started = performance.now();
  const seconds = (at = performance.now()) => (at - started) / 1000;
  const authorization = { Authorization: `Bearer ${token}` };
  const reply = await place.upload([{ name: 'audio', bytes: short }, callback], authorization);
  if (reply.status >= 300) return null;
  const { id } = jobOf(reply);
  let { start } = never;
  while (seconds() < load.waitSeconds && (start === never.start || !peer.calledAt.has(id))) {
    await sleep(pollMs);
    const waiting = start === never.start && jobOf(await place.show(id, token)).status === 'waiting';
    if (!waiting) start = Math.min(start, seconds());
  }
  return { start, callback: seconds(peer.calledAt.get(id) ?? never.callback) };
}

/** The slowest of sequential jobs. */
async function timeJobs(setup: Setup, owner: Account) {
  let [slowest, refused]: [Seconds, number] = [{ start: 0, callback: 0 }, 0];
  for (let times = 0; times < setup.load.timed && slowest.callback < never.callback; times++) {
    const seconds = await timeJob(setup, owner);
    if (seconds === null) refused++;
    const { start, callback } = seconds ?? never;
    slowest = { start: Math.max(slowest.start, start), callback: Math.max(slowest.callback, callback) };
  }
  return { ...slowest, refused };
}

type Timed = Awaited<ReturnType<typeof timeJobs>>;

function rowsOf(name: string, limit: number, during: Timed, before: Timed, more = ''): Row[] {
  const goal = Math.ceil(10 * limit) / 10;
  const row = (what: string, value: number, was: number) =>
    atMost(
      goal,
      `${name}: the last ${what} after`,
      's',
      Number.isFinite(value) ? value : null,
      `${was.toFixed(2)} s without load${more}`,
    );
  return [
    exactly(0, `${name}: jobs of another owner refused`, 'jobs', during.refused),
    row('started', during.start, before.start),
    row('callback', during.callback, before.callback),
  ];
}

/** Resolves when the jobs have ended and their callbacks are due. */
async function startDead(setup: Setup, attacker: Account): Promise<void> {
  const { place, peer, load } = setup;
  const count = Math.ceil(load.deadCallbacks / deadHosts.length);
  const urls = Array(count).fill(`http://127.0.0.1:${peer.port}/short`);
  const post = (host: string) =>
    postList(setup, attacker, { urls, callback: `http://${host}:${peer.port}/dead` });
  const last = (await Promise.all(deadHosts.map(post))).flat().at(-1);
  const ended = async () => {
    const { status } = jobOf(await place.show(String(last?.id), attacker.token));
    return !['waiting', 'running'].includes(status) && peer.deadCalls() > 0;
  };
  if (!(await eventually(ended, preparationMs))) throw new Error('Expected callbacks to a dead host');
}

async function measure(setup: Setup, sameOwner: boolean): Promise<Row[]> {
  const { place, peer, load } = setup;
  const attacker = await openAccount(place.server, 'attacker');
  const other = sameOwner ? attacker : await openAccount(place.server, 'other');
  const before = await timeJobs(setup, other);
  const limit = load.seconds + load.times * before.callback;
  const rows: Row[] = [];
  await startDead(setup, attacker);
  rows.push(...rowsOf(`${load.deadCallbacks} dead callbacks`, limit, await timeJobs(setup, other), before));
  const urls = Array(listLength).fill(`http://127.0.0.1:${peer.port}/10-s`);
  let accepted = 0;
  for (let list = 0; list < load.lists; list++)
    accepted += (await postList(setup, attacker, { urls })).length;
  const more = `; ${accepted} of ${load.lists * listLength} URLs accepted`;
  return [...rows, ...rowsOf('a full queue as well', limit, await timeJobs(setup, other), before, more)];
}

/** `sameOwner` is the negative control: shares of one owner cannot help its own jobs. */
export async function queueRows(load: Load, sameOwner = false): Promise<Row[]> {
  return withPeer((peer) => {
    const env = {
      UNDERTONE_SIGNUP: 'open',
      UNDERTONE_LOG_LEVEL: 'error',
      UNDERTONE_JOB_QUEUE: String(load.lists * listLength),
      UNDERTONE_JOB_URL_PREFIXES: `http://127.0.0.1:${peer.port}/`,
      UNDERTONE_JOB_PRIVATE_HOSTS: ['127.0.0.1', ...deadHosts].join(','),
    };
    return withJobs(env, async (place) => {
      await place.startWorker();
      return measure({ place, peer, load }, sameOwner);
    });
  });
}
