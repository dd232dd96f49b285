/** A service with a queue, what a client of its jobs does, and a server that receives callbacks. */
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { contentType, multipart, type PartSpec } from '../../benchmarks/upload-body.ts';
import { follow, type Running, startCli } from './cli.ts';
import { call, type Reply } from './http.ts';
import { listen } from './listening.ts';
import { sharedReceiptKeys } from './receipt-keys.ts';
import { type RedisServer, useRedis } from './redis.ts';
import { type Server, startServer } from './server.ts';
import type { Teardown } from './share.ts';
import { until } from './wait.ts';

type Headers = Readonly<Record<string, string>>;
type Json = Readonly<Record<string, unknown>>;

export type JobReply = {
  readonly id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly expires_at: string;
  readonly progress: { readonly analysed_s: number; readonly duration_s: number | null } | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly result: Json | null;
  readonly error: { readonly code?: string; readonly detail: unknown } | null;
  readonly callback_secret?: string;
};

/** What a client of jobs does. */
export type JobClient = {
  upload(parts: readonly PartSpec[], headers?: Headers, path?: string): Promise<Reply>;
  list(body: Json, headers?: Headers): Promise<Reply>;
  /** GET of any path. */
  get(path: string, token?: string): Promise<Reply>;
  show(id: string, token?: string): Promise<Reply>;
  remove(id: string, token?: string): Promise<Reply>;
  /** Resolves when it is done or failed. */
  ended(id: string): Promise<JobReply>;
};

export type JobStack = JobClient & {
  readonly redis: RedisServer;
  readonly server: Server;
  startWorker(): Promise<Running>;
};

export function createJobClient({ port, token }: Pick<Server, 'port' | 'token'>): JobClient {
  const authorize = (own = token) => ({ Authorization: `Bearer ${own}` });
  const ask = (method: string, path: string, own?: string) =>
    call(port, { method, path, headers: authorize(own) });
  const post = (type: string, body: string | Buffer, headers: Headers = {}, path = '/v1/jobs') =>
    call(port, { method: 'POST', path, headers: { 'Content-Type': type, ...authorize(), ...headers }, body });
  const show: JobClient['show'] = (id, own) => ask('GET', `/v1/jobs/${id}`, own);
  return {
    show,
    upload: (parts, headers, path) => post(contentType, multipart(parts), headers, path),
    list: (body, headers) => post('application/json', JSON.stringify(body), headers),
    get: (path, own) => ask('GET', path, own),
    remove: (id, own) => ask('DELETE', `/v1/jobs/${id}`, own),
    async ended(id) {
      let job = jobOf(await show(id));
      await until(async () => {
        job = jobOf(await ask('GET', `/v1/jobs/${id}?wait=1`));
        return ['done', 'failed'].includes(job.status);
      });
      return job;
    },
  };
}

export async function startJobStack(t: Teardown, env: Headers = {}): Promise<JobStack> {
  const redis = await useRedis(t);
  const shared = { UNDERTONE_REDIS_URL: redis.url, ...(await sharedReceiptKeys()) };
  const settings = { ...shared, UNDERTONE_WORKERS: '1', UNDERTONE_JOB_WORKERS: '0', ...env };
  const server = await startServer(t, settings);
  return {
    ...createJobClient(server),
    redis,
    server,
    startWorker: () => startWorker(t, { ...settings, UNDERTONE_DATA_DIR: server.dataDir }),
  };
}

export const jobOf = ({ body }: Reply): JobReply => JSON.parse(body);

/** A server of recordings, which receives the callbacks of jobs. */
export type JobWeb = {
  readonly url: string;
  /** Settings of a service whose jobs may reach it. */
  readonly env: Headers;
  /** The bodies of callbacks, in the order of their arrival. */
  readonly calls: readonly JobReply[];
};

/** @param onGet responds to a fetch of a recording; by default nothing does */
export async function openJobWeb(t: Teardown, onGet: RequestListener = () => {}): Promise<JobWeb> {
  const calls: JobReply[] = [];
  const port = await listen(t, async (request, response) => {
    if (request.method === 'GET') return onGet(request, response);
    calls.push(JSON.parse(await text(request)));
    response.end();
  });
  const url = `http://127.0.0.1:${port}/`;
  const env = { UNDERTONE_JOB_URL_PREFIXES: url, UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1' };
  return { url, env, calls };
}

// `undertone worker` as its own process, with a server of the tests.

/** Resolves when it accepts jobs. */
export async function startWorker(
  t: { teardown(clean: () => unknown): void },
  env: Readonly<Record<string, string>>,
): Promise<Running> {
  const worker = follow(t, startCli(['worker'], { env }));
  await worker.printed(/^working/m);
  return worker;
}
