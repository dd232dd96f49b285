/** Requests of one account for the stored result of a recording of hours, which are read at once or not at all. */
import { join } from 'node:path';
import { residentMebibytes } from '../../../benchmarks/process.ts';
import { toneFile } from '../../../benchmarks/upload-body.ts';
import { withDatabase } from '../../../src/service/database.ts';
import { piecesOf } from '../../../src/service/result-pieces.ts';
import { createJobClient, jobOf } from '../../support/jobs.ts';
import type { Row } from '../case.ts';
import { effectRows, leastEffect, type PipeliningGoals } from './pipelined-requests.ts';
import { type Server, withServer } from './service.ts';

/** About the report of a recording of 12 hours. */
const resultBytes = 8_600_000;
const readers = 100;
const silent = 200;

/** A job that is done, with such a result. @returns its path */
async function storeLargeResult(server: Server): Promise<string> {
  const client = createJobClient(server);
  const { id } = jobOf(await client.upload([{ name: 'audio', bytes: toneFile(1) }]));
  await client.ended(id);
  const json = Buffer.from(JSON.stringify({ status: 'ok', text: 'x'.repeat(resultBytes) }));
  await withDatabase(`file:${join(server.dataDir, 'undertone.db')}`, async (database) => {
    await database.deleteFrom('job_pieces').where('job', '=', id).execute();
    await database.insertInto('job_pieces').values(piecesOf(id, json)).execute();
    await database.updateTable('jobs').set({ bytes: json.length }).where('id', '=', id).execute();
  });
  return `/v1/jobs/${id}`;
}

/** @param env with the control, responses that are read from the database before they are sent */
export function unreadResultRows(
  goals: PipeliningGoals,
  env: Readonly<Record<string, string>> = {},
): Promise<Row[]> {
  return withServer({ UNDERTONE_LOG_LEVEL: 'error', ...env }, async (server) => {
    const path = await storeLargeResult(server);
    const bytes = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${server.token}\r\n\r\n`;
    const { attackMs } = goals;
    const idle = residentMebibytes(server.process.pid as number);
    const rows: Row[] = [];
    for (const [connections, reads] of [
      [readers, true],
      [silent, false],
    ] as const) {
      const attack = { connections, bytes, attackMs, reads };
      const effect = await leastEffect(server, idle, goals, attack);
      const name = `${connections} connections that ${reads ? '' : 'do not '}read a result of 8.6 MB`;
      rows.push(...effectRows(name, goals, [{ path: '', ...effect }]));
    }
    return rows;
  });
}
