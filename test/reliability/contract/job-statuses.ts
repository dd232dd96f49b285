/** The statuses of jobs' operations. */
import type { RedisServer } from '../redis.ts';
import type { Server } from '../service.ts';
import { ask, askRaw, upload, type Witness } from './asking.ts';

const begin = 'POST /v1/jobs';
const show = 'GET /v1/jobs/{id}';
const remove = 'DELETE /v1/jobs/{id}';
const list = 'GET /v1/jobs';
const listAfter = 'GET /v1/jobs/after/{id}';
export const jobOperations = [begin, show, remove, list, listAfter];

/** One for each kind of fault in JSON. */
const wrongLists = [{}, { urls: [] }, { urls: [''], channel: -1, callback: 1, more: 1 }, 'x'.repeat(2 ** 18)];

/** 200, 202, 404, 413 and 422 of a queue that is there, and 503 when it is gone. No worker takes a job. */
export async function askJobs(server: Server, redis: RedisServer, witness: Witness): Promise<void> {
  const { port, token } = server;
  const job = upload(begin, token);
  const headers = Object.entries({ Host: 'x', ...job.headers, 'Content-Length': '999999999' });
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  await askRaw(port, witness, begin, `${lines}\r\n`);
  await ask(port, witness, { ...job, body: 'no multipart at all' });
  for (const body of wrongLists) {
    const json = { 'Content-Type': 'application/json' };
    await ask(port, witness, upload(begin, token, { headers: json, body: JSON.stringify(body) }));
  }
  for (const operation of [show, remove, listAfter]) await ask(port, witness, upload(operation, token));
  const askBegun = async () => {
    const { id } = JSON.parse((await ask(port, witness, job)).body);
    const path = `/v1/jobs/${id}`;
    return async () => {
      await ask(port, witness, upload(list, token));
      await ask(port, witness, upload(listAfter, token, { path: `/v1/jobs/after/${id}` }));
      for (const operation of [show, remove]) await ask(port, witness, upload(operation, token, { path }));
    };
  };
  await (await askBegun())();
  // An older job that has not ended: what is asked for after the newer one needs the queue too.
  await ask(port, witness, job);
  const askWithoutQueue = await askBegun();
  await redis.kill();
  await askWithoutQueue();
  await ask(port, witness, job);
}
