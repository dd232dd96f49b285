/** The service and a worker under a clock that is wrong or set while they run, by libfaketime. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { installPackages } from '../../../benchmarks/packages.ts';
import { runCli } from '../../support/cli.ts';
import { type JobStack, jobOf } from '../../support/jobs.ts';
import { lecture } from '../../support/recordings.ts';
import { makeToken } from '../../support/server.ts';
import { connectStream, speechSamples } from '../../support/stream-client.ts';
import { exactly, none, type Row } from '../case.ts';
import { ask, exchange } from './requests.ts';
import { isUp, type Server, withJobs, withServer } from './service.ts';

type Env = Readonly<Record<string, string>>;

const ok = 200;
/** Requests per minute and token. */
const rate = 100;
const stream = { type: 'session.configure', encoding: 's16le', sample_rate_hz: 16_000, channels: 1 } as const;

/** A clock for processes with the environment `env`. The monotonic clock is untouched, as on a host whose clock is set. */
async function withClock<Result>(
  offset: string,
  work: (env: Env, set: (offset: string) => void, folder: string) => Promise<Result>,
): Promise<Result> {
  installPackages(['libfaketime']);
  const folder = mkdtempSync(join(tmpdir(), 'undertone-clock-'));
  const file = join(folder, 'offset');
  const set = (value: string) => writeFileSync(file, value);
  set(offset);
  const files = execFileSync('dpkg', ['-L', 'libfaketime'], { encoding: 'utf8' }).split('\n');
  const env = {
    LD_PRELOAD: files.find((path) => path.endsWith('libfaketimeMT.so.1')) as string,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  try {
    return await work(env, set, folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The data folder is made by the right clock; the service starts with the wrong one. */
export function wrongAtStart(offset: string, settings: Env): Promise<Row[]> {
  return withClock(offset, async (clock, set, dataDir) => {
    const token = makeToken({ dataDir }, 'analyze:emotion,analyze:cognitive');
    const limited = makeToken({ dataDir }, 'analyze:emotion', 'limited');
    await runCli(['keys', 'create'], { env: { UNDERTONE_DATA_DIR: dataDir } });
    const env = { ...settings, ...clock, UNDERTONE_DATA_DIR: dataDir, UNDERTONE_RATE_LIMIT: `${rate}/60` };
    const about = `clock ${offset} at the start`;
    return withServer(env, async (server) => {
      const rows = [
        none(`${about}: requests not answered 200`, ...(await requests(server, token))),
        none(`${about}: live sessions without a report`, ...(await live(server))),
      ];
      for (let count = 0; count <= rate; count++) await usage(server, limited);
      set('+0');
      const status = await usage(server, limited);
      return [
        ...rows,
        exactly(ok, `${about}: a request at its rate limit, once the clock is right`, 'status', status),
        exactly(0, `${about}: the service ended`, 'times', isUp(server) ? 0 : 1),
      ];
    });
  });
}

/** The clock is set while a job runs and a session is open. */
export function setWhileRunning(offset: string, settings: Env, seconds: number): Promise<Row[]> {
  return withClock('+0', async (clock, set) => {
    return withJobs({ ...settings, ...clock }, async (place) => {
      const { server } = place;
      const worker = await place.startWorker();
      const token = makeToken(server, 'analyze:emotion,analyze:cognitive');
      const ended = await submit(place, 1);
      await place.ended(ended);
      const running = await submit(place, seconds);
      const session = await connectStream(server.port, { token: server.token });
      session.send(stream);
      await session.first('session.ready');
      session.socket.send(speechSamples(2));
      set(offset);
      session.socket.send(speechSamples(2));
      session.send({ type: 'session.end' });
      const jobs = await Promise.all([running, await submit(place, 1)].map((id) => place.ended(id)));
      await session.closed;
      const [notAnswered, asked] = await requests(server, token);
      const [noReport, opened] = await live(server);
      const away = session.messages('final').length === 0 ? ['the open one'] : [];
      set('+0');
      const kept = (await place.show(ended)).status;
      const runs = worker.stderr().match(/"job done"/g)?.length ?? 0;
      const about = `clock ${offset} while running`;
      return [
        none(`${about}: requests not answered 200`, notAnswered, asked),
        none(`${about}: live sessions without a report`, [...noReport, ...away], opened + 1),
        none(
          `${about}: jobs not done`,
          jobs.filter(({ status }) => status !== 'done').map(({ error }) => JSON.stringify(error)),
          jobs.length,
        ),
        exactly(jobs.length + 1, `${about}: analyses of jobs`, `of ${jobs.length + 1} jobs`, runs),
        exactly(ok, `${about}: a result, once the clock is right again`, 'status', kept),
        exactly(0, `${about}: processes ended`, 'times', [server, worker].filter((one) => !isUp(one)).length),
      ];
    });
  });
}

async function submit({ upload }: JobStack, seconds: number): Promise<string> {
  return jobOf(await upload([{ name: 'audio', bytes: lecture(seconds) }])).id;
}

async function usage({ port }: Server, token: string): Promise<number> {
  const headers = { Authorization: `Bearer ${token}` };
  return (await exchange({ port, path: '/v1/usage', headers })).status;
}

/** Analyses with both kinds of token, readiness, and the published keys. @returns those not answered 200, and their number */
async function requests(server: Server, token: string): Promise<readonly [string[], number]> {
  const statuses = [
    (await ask(server, 'static')).status,
    (await ask({ ...server, token }, 'of-a-token')).status,
    (await exchange({ port: server.port, path: '/ready' })).status,
    (await exchange({ port: server.port, path: '/.well-known/undertone-keys.json' })).status,
  ];
  return [statuses.filter((status) => status !== ok).map(String), statuses.length];
}

/** A session with a token for one session. @returns its failures, and the number of sessions */
async function live(server: Server): Promise<readonly [string[], number]> {
  const headers = { Authorization: `Bearer ${server.token}`, 'Content-Type': 'application/json' };
  const issued = await fetch(`${server.url}/v1/stream/tokens`, { method: 'POST', headers, body: '{}' });
  const { token } = (await issued.json()) as { readonly token: string };
  const session = await connectStream(server.port, { protocols: ['undertone.v1', token] });
  session.send(stream);
  session.socket.send(speechSamples(2));
  session.send({ type: 'session.end' });
  const { code } = await session.closed;
  return [session.messages('final').length === 1 ? [] : [String(code)], 1];
}
