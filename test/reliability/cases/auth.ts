/** What remains of a request: nothing of it in log, metrics, answers, data folder or any other file. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { call } from '../../support/http.ts';
import { findCanaries, findInFolder, makeCanaries, sendCanaries, useAccount } from '../auth/canaries.ts';
import { type TraceResult, traceWrites } from '../auth/trace.ts';
import { atLeast, negativeControl, none, type Row } from '../case.ts';
import { type PreloadScript, preload } from '../support/preload.ts';
import { buildService, type Server, withServer } from '../support/service.ts';

export async function run(): Promise<readonly Row[]> {
  buildService();
  return [
    ...(await retention('throwing-host')),
    negativeControl('a service that stores requests', await retention('throwing-host', 'request-recorder')),
  ];
}

function retention(...scripts: readonly PreloadScript[]): Promise<Row[]> {
  return withServer({ UNDERTONE_LOG_LEVEL: 'trace', ...preload(...scripts) }, async (server) => {
    const found = new Set<string>();
    const search = (canaries: Readonly<Record<string, string>>, place: string, bytes: Buffer) => {
      for (const one of findCanaries(canaries, place, bytes)) found.add(one);
    };
    const canaries = makeCanaries();
    const { answers, trace } = await traced(server, () => sendCanaries(server, canaries));
    // An answer names an unknown path to its client alone.
    const { path: _, ...hidden } = canaries;
    for (const answer of answers) search(hidden, 'an answer', answer);
    const withToken = await useAccount(server, canaries);
    const { body } = await call(server.port, { path: '/metrics' });
    await server.stop();
    search(withToken, 'the metrics', Buffer.from(body));
    search(withToken, 'the log', Buffer.from(server.stderr()));
    search(withToken, 'the output', Buffer.from(server.stdout()));
    for (const one of findInFolder(withToken, server.dataDir)) found.add(one);
    const stored = [...new Set(trace.stored)].map((call) => call.slice(0, 100));
    return [
      none('places with audio, a name, a token or a password', [...found], 'all'),
      atLeast(1, 'system calls that write or create files, while analysing', 'calls', trace.seen),
      none('system calls that write to a file', stored, trace.seen),
    ];
  });
}

async function traced<Result>(
  server: Server,
  work: () => Promise<Result>,
): Promise<{ answers: Result; trace: TraceResult }> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-trace-'));
  try {
    const tracing = await traceWrites(server.process.pid as number, join(folder, 'trace'));
    const answers = await work();
    return { answers, trace: await tracing.end() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
