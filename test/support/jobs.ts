/** A service with a queue, and what a client of its jobs does. */

import { contentType, multipart, type PartSpec } from '../../benchmarks/upload-body.ts';
import type { Running } from './cli.ts';
import { call, type Reply } from './http.ts';
import { sharedReceiptKeys } from './receipt-keys.ts';
import { type RedisServer, useRedis } from './redis.ts';
import { type Server, startServer } from './server.ts';
import { until } from './wait.ts';
import { startWorker } from './worker.ts';

type Teardown = { teardown(clean: () => unknown): void };
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

export type JobStack = {
  readonly redis: RedisServer;
  readonly server: Server;
  startWorker(): Promise<Running>;
  upload(parts: readonly PartSpec[], headers?: Readonly<Record<string, string>>): Promise<Reply>;
  list(body: Json, headers?: Readonly<Record<string, string>>): Promise<Reply>;
  /** GET of any path. */
  get(path: string, token?: string): Promise<Reply>;
  show(id: string, token?: string): Promise<Reply>;
  remove(id: string, token?: string): Promise<Reply>;
  /** Resolves when it is done or failed. */
  ended(id: string): Promise<JobReply>;
};

export async function startJobStack(
  t: Teardown,
  env: Readonly<Record<string, string>> = {},
): Promise<JobStack> {
  const redis = await useRedis(t);
  const shared = { UNDERTONE_REDIS_URL: redis.url, ...(await sharedReceiptKeys()) };
  const settings = { ...shared, UNDERTONE_WORKERS: '1', UNDERTONE_JOB_WORKERS: '0', ...env };
  const server = await startServer(t, settings);
  const authorize = (token = server.token) => ({ Authorization: `Bearer ${token}` });
  const ask = (method: string, path: string, token?: string) =>
    call(server.port, { method, path, headers: authorize(token) });
  const post = (type: string, body: string | Buffer, headers: Readonly<Record<string, string>> = {}) =>
    call(server.port, {
      method: 'POST',
      path: '/v1/jobs',
      headers: { 'Content-Type': type, ...authorize(), ...headers },
      body,
    });
  const show = (id: string, token?: string) => ask('GET', `/v1/jobs/${id}`, token);
  return {
    redis,
    server,
    show,
    get: (path, token) => ask('GET', path, token),
    startWorker: () => startWorker(t, { ...settings, UNDERTONE_DATA_DIR: server.dataDir }),
    upload: (parts, headers) => post(contentType, multipart(parts), headers),
    list: (body, headers) => post('application/json', JSON.stringify(body), headers),
    remove: (id, token) => ask('DELETE', `/v1/jobs/${id}`, token),
    async ended(id) {
      let job = jobOf(await show(id));
      await until(async () => {
        job = jobOf(await show(id));
        return job.status === 'done' || job.status === 'failed';
      });
      return job;
    },
  };
}

export const jobOf = ({ body }: Reply): JobReply => JSON.parse(body);
