/** Whether anything of a request stays: in the log, the figures, the answers, or on disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call } from '../../support/http.ts';
import { atLeast, exactly, type Row } from '../case.ts';
import { type Plant, plant } from '../plant.ts';
import { withServer } from '../service.ts';
import { findCanaries, findInFolder, keepAccount, makeCanaries, sendCanaries } from './canaries.ts';
import { type TraceResult, traceWrites } from './trace.ts';

export async function retentionRows(...plants: readonly Plant[]): Promise<Row[]> {
  const env = { UNDERTONE_LOG_LEVEL: 'trace', ...plant(...plants) };
  const found: string[] = [];
  const trace = await withServer(env, async (server) => {
    const canaries = makeCanaries();
    const { answers, trace } = await whileTraced(server.process.pid as number, () =>
      sendCanaries(server, canaries),
    );
    for (const answer of answers) found.push(...findCanaries(canaries, 'an answer', answer));
    const withToken = await keepAccount(server, canaries);
    const { body } = await call(server.port, { path: '/metrics' });
    await server.stop();
    for (const [place, text] of Object.entries({
      log: server.stderr(),
      output: server.stdout(),
      metrics: body,
    }))
      found.push(...findCanaries(withToken, place, Buffer.from(text)));
    found.push(...findInFolder(withToken, server.dataDir));
    return trace;
  });
  return [
    exactly(0, {
      name: 'places where a byte of audio, a name, a token or a password was found',
      unit: '',
      value: new Set(found).size,
      note: [...new Set(found)].join(', ').slice(0, 300),
    }),
    atLeast(1, {
      name: 'system calls that write or make files, while analysing',
      unit: '',
      value: trace.seen,
    }),
    exactly(0, {
      name: 'of them to a file',
      unit: '',
      value: trace.stored.length,
      note: [...new Set(trace.stored)].slice(0, 3).join('; ').slice(0, 300),
    }),
  ];
}

async function whileTraced<Result>(
  pid: number,
  work: () => Promise<Result>,
): Promise<{ answers: Result; trace: TraceResult }> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-trace-'));
  try {
    const tracing = await traceWrites(pid, join(folder, 'trace'));
    const answers = await work();
    return { answers, trace: await tracing.end() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
