/** What it costs to analyse in processes of their own (UNDERTONE_ISOLATION=process) and not in threads. */
import { atMost, type Figure, figure, type Row } from '../case.ts';
import { proportionalMebibytes } from '../process.ts';
import { closeConnections, post, times } from '../request/client.ts';
import { buildService, startService } from '../service.ts';

const rounds = process.argv.includes('--long') ? 60 : 20;
const perRound = 10;
const warmUps = 50;
const workers = 2;

export async function run(): Promise<readonly Row[]> {
  buildService();
  const kinds = ['thread', 'process'];
  const settings = (kind: string) => ({
    UNDERTONE_ISOLATION: kind,
    UNDERTONE_WORKERS: String(workers),
  });
  const services = await Promise.all(kinds.map((kind) => startService(settings(kind))));
  const idle = services.map(({ pid }) => figure([proportionalMebibytes(pid)]));
  const measured: number[][] = services.map(() => []);
  for (const { port } of services) await times(warmUps, () => post(port));
  for (let round = 0; round < rounds; round++) {
    for (const [index, { port }] of services.entries()) {
      measured[index]?.push(...(await times(perRound, () => post(port))));
    }
  }
  const [threads, processes] = measured.map(figure);
  const after = services.map(({ pid }) => figure([proportionalMebibytes(pid)]));
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
