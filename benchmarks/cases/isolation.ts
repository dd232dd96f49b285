/** What it costs to analyse in processes of their own (UNDERTONE_ISOLATION=process) and not in threads. */
import { readFileSync } from 'node:fs';
import { atMost, type Figure, figure, type Row } from '../case.ts';
import { childrenOf } from '../process.ts';
import { closeConnections, post, times } from '../request/client.ts';
import { buildService, type Service, startService } from '../service.ts';

const rounds = process.argv.includes('--long') ? 60 : 20;
const perRound = 10;
const warmUps = 50;
const workers = 2;

/** Pages that several processes share are counted once. */
function proportionalMebibytes({ pid }: Service): number {
  const kilobytes = [pid, ...childrenOf(pid)].map((id) => {
    const text = readFileSync(`/proc/${id}/smaps_rollup`, 'utf8');
    return Number(/^Pss:\s+(\d+) kB$/m.exec(text)?.[1]);
  });
  return kilobytes.reduce((sum, more) => sum + more, 0) / 1024;
}

export async function run(): Promise<readonly Row[]> {
  buildService();
  const kinds = ['thread', 'process'];
  const settings = (kind: string) => ({
    UNDERTONE_ISOLATION: kind,
    UNDERTONE_WORKERS: String(workers),
  });
  const services = await Promise.all(kinds.map((kind) => startService(settings(kind))));
  const idle = services.map(proportionalMebibytes).map((one) => figure([one]));
  const measured: number[][] = services.map(() => []);
  for (const { port } of services) await times(warmUps, () => post(port));
  for (let round = 0; round < rounds; round++) {
    for (const [index, { port }] of services.entries()) {
      measured[index]?.push(...(await times(perRound, () => post(port))));
    }
  }
  const [threads, processes] = measured.map(figure);
  const after = services.map(proportionalMebibytes).map((one) => figure([one]));
  closeConnections();
  for (const service of services) await service.stop();
  const memory = (when: string, [peer, ours]: readonly (Figure | null)[]) =>
    atMost(2.5, {
      name: `memory ${when}, ${workers} workers`,
      unit: 'MiB',
      peer: peer ?? null,
      ours: ours ?? null,
      note: 'peer: threads; all processes together, shared pages once',
    });
  return [
    atMost(1.1, {
      name: 'POST /v1/analyze, 10 s WAV, p50',
      unit: 'ms',
      peer: threads ?? null,
      ours: processes ?? null,
      note: `peer: threads; ${rounds * perRound} requests each, in turns of ${perRound}`,
    }),
    memory('idle', idle),
    memory('after these requests', after),
  ];
}
