/** The statuses of jobs' operations. */
import type { RedisServer, Server } from '../support/service.ts';
import { ask, askRaw, type ResponseListener, upload } from './asking.ts';

const begin = 'POST /v1/jobs';
const show = 'GET /v1/jobs/{id}';
const remove = 'DELETE /v1/jobs/{id}';
const list = 'GET /v1/jobs';
const listAfter = 'GET /v1/jobs/after/{id}';
export const jobOperations = [begin, show, remove, list, listAfter];

/** One for each kind of invalid list. */
const wrongLists = [{}, { urls: [] }, { urls: [''], channel: -1, callback: 1, more: 1 }, 'x'.repeat(2 ** 18)];

/** 200, 202, 404, 413 and 422 with a queue, 503 without. No worker runs. */
export async function askJobs(
  server: Server,
  redis: RedisServer,
  onResponse: ResponseListener,
): Promise<void> {
  const { port, token } = server;
  const job = upload(begin, token);
  const headers = Object.entries({ Host: 'x', ...job.headers, 'Content-Length': '999999999' });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  await askRaw(port, onResponse, begin, `${lines}\r\n`);
  await ask(port, onResponse, { ...job, body: 'no multipart at all' });
  for (const body of wrongLists) {
    const json = { 'Content-Type': 'application/json' };
    await ask(port, onResponse, upload(begin, token, { headers: json, body: JSON.stringify(body) }));
  }
  for (const operation of [show, remove, listAfter]) await ask(port, onResponse, upload(operation, token));
  const askBegun = async () => {
    const { id } = JSON.parse((await ask(port, onResponse, job)).body);
    const path = `/v1/jobs/${id}`;
    return async () => {
      await ask(port, onResponse, upload(list, token));
      await ask(port, onResponse, upload(listAfter, token, { path: `/v1/jobs/after/${id}` }));
      for (const operation of [show, remove]) await ask(port, onResponse, upload(operation, token, { path }));
    };
  };
  await (await askBegun())();
  // An older pending job: listing after the newer one reads the queue.
  await ask(port, onResponse, job);
  const askWithoutQueue = await askBegun();
  await redis.kill();
  await askWithoutQueue();
  await ask(port, onResponse, job);
}
