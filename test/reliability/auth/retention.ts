/** Data of requests in log, metrics, responses and on disk. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call } from '../../support/http.ts';
import { atLeast, exactly, type Row } from '../case.ts';
import { type PreloadScript, preload } from '../support/preload.ts';
import { withServer } from '../support/service.ts';
import { findCanaries, findInFolder, makeCanaries, sendCanaries, useAccount } from './canaries.ts';
import { type TraceResult, traceWrites } from './trace.ts';

export async function retentionRows(...scripts: readonly PreloadScript[]): Promise<Row[]> {
  const env = { UNDERTONE_LOG_LEVEL: 'trace', ...preload(...scripts) };
  const found: string[] = [];
  const trace = await withServer(env, async (server) => {
    const canaries = makeCanaries();
    const { answers, trace } = await whileTraced(server.process.pid as number, () =>
      sendCanaries(server, canaries),
    );
    for (const answer of answers) found.push(...findCanaries(canaries, 'an answer', answer));
    const withToken = await useAccount(server, canaries);
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
    exactly(
      0,
      'places where audio, a name, a token or a password was found',
      '',
      new Set(found).size,
      [...new Set(found)].join(', ').slice(0, 300),
    ),
    atLeast(1, 'system calls that write or create files, while analysing', '', trace.seen),
    exactly(
      0,
      'system calls that write to a file',
      '',
      trace.stored.length,
      [...new Set(trace.stored)].slice(0, 3).join('; ').slice(0, 300),
    ),
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
