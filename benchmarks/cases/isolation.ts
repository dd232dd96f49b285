/** What it costs to analyse in processes of their own (UNDERTONE_ISOLATION=process) and not in threads. */
import { atMost, type Figure, figure, inTurns, type Row } from '../case.ts';
import { proportionalMebibytes } from '../process.ts';
import { closeConnections, post, times } from '../request/client.ts';
import { buildService, startService } from '../service.ts';

const rounds = process.argv.includes('--long') ? 60 : 20;
const perRound = 10;
const warmUps = 50;
const workers = 2;

export async function run(): Promise<readonly Row[]> {
  buildService();
  const settings = { UNDERTONE_WORKERS: String(workers) };
  const services = await Promise.all(
    ['thread', 'process'].map((kind) => startService({ ...settings, UNDERTONE_ISOLATION: kind })),
  );
  const memory = () => services.map(({ pid }) => figure([proportionalMebibytes(pid)]));
  const idle = memory();
  for (const { port } of services) await times(warmUps, () => post(port));
  const measured = await inTurns(services, rounds, ({ port }) => times(perRound, () => post(port)));
  const after = memory();
  closeConnections();
  for (const service of services) await service.stop();
  const row = (goal: number, name: string, unit: string, found: readonly (Figure | null)[], note: string) => {
    const [peer = null, ours = null] = found;
    return atMost(goal, { name, unit, peer, ours, note: `peer: threads; ${note}` });
  };
  const shared = 'all processes together, shared pages once';
  const requests = `${rounds * perRound} requests each, in turns of ${perRound}`;
  return [
    row(1.03, 'POST /v1/analyze, 10 s WAV, p50', 'ms', measured, requests),
    row(1.2, `memory idle, ${workers} workers`, 'MiB', idle, shared),
    row(1.2, `memory after these requests, ${workers} workers`, 'MiB', after, shared),
  ];
}
