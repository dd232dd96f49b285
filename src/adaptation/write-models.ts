/** Writes the folder of adapted models: a copy of the models, with corrections in the graphs of the heads. */
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { IntervalParams } from '../analysis/signals/intervals.ts';
import { goldensOf } from '../models/golden.ts';
import { loadModels, readManifests } from '../models/loader.ts';
import type { Manifest, ManifestOf } from '../models/manifest.ts';
import type { Adaptation } from './adapt.ts';
import { adaptationCard } from './card.ts';
import { type Dimension, type DimensionAdaptation, type DimensionResult, dimensions } from './dimensions.ts';
import { correctGraph, type GraphCorrections } from './graph.ts';

/** Name of the recordings in manifests and cards, and what people should know about them. */
export type Source = { readonly name: string; readonly command: string };

type Head = ManifestOf<'emotion'> | ManifestOf<'cognitive'>;
/** Dimensions whose interval rule a head has. */
type Rules = Partial<Record<Dimension, IntervalParams>>;

const weightsFile = 'weights.onnx';

/** @param out a folder that does not exist; it appears when it is complete */
export async function writeModels(
  base: string,
  out: string,
  adaptation: Adaptation,
  source: Source,
): Promise<void> {
  const partial = `${out}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(dirname(partial), { recursive: true });
  for (const manifest of await readManifests(base)) {
    await cp(join(base, manifest.name), join(partial, manifest.name), { recursive: true });
    if (manifest.kind === 'emotion' || manifest.kind === 'cognitive')
      await adaptHead(join(partial, manifest.name), manifest, adaptation, source);
  }
  for (const [name, golden] of Object.entries(await goldensOf(await loadModels(partial))))
    await writeFile(join(partial, name, 'golden.json'), `${JSON.stringify(golden, null, 2)}\n`);
  await rename(partial, out);
}

async function adaptHead(folder: string, head: Head, adaptation: Adaptation, source: Source): Promise<void> {
  const own = dimensions.filter((name) => name in head.params.intervals);
  const corrections: GraphCorrections = {
    labels: head.kind === 'emotion' ? labelsOf(head, adaptation) : null,
    scores: Object.fromEntries(
      own.flatMap((name): [Dimension, DimensionAdaptation][] => {
        const found = adaptation.dimensions[name]?.adaptation;
        return found ? [[name, found]] : [];
      }),
    ),
  };
  if (corrections.labels === null && Object.keys(corrections.scores).length === 0) return;
  const weights = correctGraph(await readFile(join(folder, head.weights.file)), corrections);
  if (head.weights.file !== weightsFile) await rm(join(folder, head.weights.file));
  await writeFile(join(folder, weightsFile), weights);
  const manifest = describe(head, weights, { corrections, adaptation, source });
  await writeFile(join(folder, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await writeFile(join(folder, 'CARD.md'), adaptationCard(manifest, adaptation, source));
}

function labelsOf(head: ManifestOf<'emotion'>, { labels }: Adaptation): GraphCorrections['labels'] {
  return labels?.adaptation ? { ...labels.adaptation, known: head.labels ?? [] } : null;
}

type Changes = {
  readonly corrections: GraphCorrections;
  readonly adaptation: Adaptation;
  readonly source: Source;
};

function describe(head: Head, weights: Uint8Array, { corrections, adaptation, source }: Changes): Manifest {
  const intervals: Rules = { ...head.params.intervals };
  for (const [name, { widen }] of Object.entries(corrections.scores) as [Dimension, DimensionAdaptation][]) {
    const rule = intervals[name];
    if (rule !== undefined) intervals[name] = { ...rule, base: rule.base * widen };
  }
  const { training, evidence } = head;
  const recordings = recordingsOf(corrections, adaptation);
  return {
    ...head,
    description: `${head.description}; adapted to recordings of ${source.name}`,
    labels: corrections.labels?.labels ?? head.labels,
    weights: { file: weightsFile, sha256: createHash('sha256').update(weights).digest('hex') },
    params: { ...head.params, intervals },
    training: {
      ...training,
      data: [
        ...training.data,
        { name: source.name, licence: 'not stated; of whom adapted the model', clips: recordings },
      ],
      limits: [
        ...training.limits,
        `Adapted to recordings of ${source.name}: expect the improvement for speakers and recordings of the same kind only.`,
      ],
    },
    evidence: { ...evidence, figures: evidenceFigures(corrections, adaptation) },
  } as Manifest;
}

/** Results of the parts that a head has. */
function resultsOf({ corrections, adaptation }: Pick<Changes, 'corrections' | 'adaptation'>) {
  const names = Object.keys(corrections.scores) as Dimension[];
  return [
    ...(corrections.labels === null || adaptation.labels === null ? [] : [adaptation.labels]),
    ...names.map((name) => adaptation.dimensions[name] as DimensionResult),
  ];
}

function recordingsOf(corrections: GraphCorrections, adaptation: Adaptation): number {
  return Math.max(...resultsOf({ corrections, adaptation }).map(({ recordings }) => recordings));
}

/** Of speakers left out in turn; the figures of the models before hold for those alone. */
function evidenceFigures(
  corrections: GraphCorrections,
  adaptation: Adaptation,
): Manifest['evidence']['figures'] {
  return resultsOf({ corrections, adaptation }).flatMap(({ kept, recordings }) =>
    kept.map(({ figure, after }) => ({
      figure,
      group: 'own recordings, speakers left out in turn',
      value: after.value,
      interval: after.interval === null ? null : ([...after.interval] as [number, number]),
      speakers: adaptation.speakers,
      clips: recordings,
    })),
  );
}
