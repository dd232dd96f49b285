/** One client, one request at a time, against the sum of its stages measured alone. */
import { createAnalyzer } from '../../src/analysis/analyze.ts';
import { parseConfig } from '../../src/runtime/config.ts';
import { atMost, figure, type Row } from '../case.ts';
import { closeConnections, post, recording, times } from '../request/client.ts';
import { buildServers, forkServer } from '../request/forked.ts';
import { buildService, startService } from '../service.ts';

const long = process.argv.includes('--long');
const rounds = long ? 30 : 12;
const perRound = 10;
const warmUps = 50;

/** Decode, features and models alone, in this process. */
async function openStages(): Promise<() => Promise<number>> {
  const { modelsDir, limits } = parseConfig(process.env);
  const analyzer = await createAnalyzer({ modelsDir, limits });
  const signals = ['emotion', 'cognitive'] as const;
  return async () => {
    const asked = { audio: recording, baseline: null, channel: null, signals, cancel: null };
    const { stages } = await analyzer.analyze(asked);
    return stages.reduce((sum, { ms }) => sum + ms, 0);
  };
}

export async function run(): Promise<readonly Row[]> {
  buildServers();
  buildService();
  const raw = await forkServer('raw');
  const service = await startService({ UNDERTONE_WORKERS: '1' });
  const runs = [() => post(raw.port), await openStages(), () => post(service.port)];
  const measured: number[][] = [[], [], []];
  for (const one of runs) await times(warmUps, one);
  for (let round = 0; round < rounds; round++) {
    for (const [index, one] of runs.entries()) measured[index]?.push(...(await times(perRound, one)));
  }
  raw.stop();
  closeConnections();
  await service.stop();
  const [rawMs, stagesMs, oursMs] = measured.map(figure);
  const alone = measured[1]?.map((ms) => ms + (rawMs?.median ?? Number.NaN)) ?? [];
  return [
    atMost(1.3, {
      name: 'POST /v1/analyze, 10 s WAV, p50',
      unit: 'ms',
      peer: figure(alone),
      ours: oursMs ?? null,
      note: `peer: raw-body request (${rawMs?.median.toFixed(1)} ms) + decode, features and models (${stagesMs?.median.toFixed(1)} ms), each alone`,
    }),
  ];
}
