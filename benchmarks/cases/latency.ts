/** One client, one request at a time, against the sum of its stages measured alone. */
import { createAnalyzer } from '../../src/analysis/analyze.ts';
import { defaultOptions } from '../../src/analysis/types.ts';
import { parseConfig } from '../../src/runtime/config.ts';
import { atMost, figure, inTurns, type Row } from '../case.ts';
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
    const asked = { audio: recording, baselines: [], ...defaultOptions, signals, cancel: null };
    const [{ stages }] = await analyzer.analyze(asked);
    return stages.reduce((sum, { ms }) => sum + ms, 0);
  };
}

export async function run(): Promise<readonly Row[]> {
  buildServers();
  buildService();
  const raw = await forkServer('raw');
  const service = await startService({ UNDERTONE_WORKERS: '1' });
  const runs = [() => post(raw.port), await openStages(), () => post(service.port)];
  for (const one of runs) await times(warmUps, one);
  const [rawMs, stagesMs, oursMs = null] = await inTurns(runs, rounds, (one) => times(perRound, one));
  raw.stop();
  closeConnections();
  await service.stop();
  const sum = (rawMs?.median ?? Number.NaN) + (stagesMs?.median ?? Number.NaN);
  return [
    atMost(1.3, {
      name: 'POST /v1/analyze, 10 s WAV, p50',
      unit: 'ms',
      peer: figure([sum]),
      ours: oursMs,
      note: `peer: raw-body request (${rawMs?.median.toFixed(1)} ms) + decode, features and models (${stagesMs?.median.toFixed(1)} ms), each alone`,
    }),
  ];
}
