/** Writes the folder of adapted models: a copy of the models, with a correction in the folder of each head. */

import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { formatCorrection, goldensOf, type HeadCorrection } from '../../engine/index.ts';
import type { IntervalParams, Manifest, ManifestOf } from '../../engine/schema.ts';
import { loadModels, type ModelFolder, readCard, readModelFolders } from '../../node/models.ts';
import { sha256 } from '../../service/sha256.ts';
import { type Dimension, dimensions } from '../evaluate/figures.ts';
import type { Adaptation } from './adaptation.ts';
import { adaptationCard } from './card.ts';
import type { DimensionResult } from './fit-dimensions.ts';

/** Name of the recordings in manifests and cards, what people should know about them, and the hash of their file of labels. */
type Source = { readonly name: string; readonly command: string; readonly labelsSha256: string };

type Head = ManifestOf<'emotion'> | ManifestOf<'cognitive'>;
/** Dimensions whose interval rule a head has. */
type Rules = Partial<Record<Dimension, IntervalParams | null>>;

const correctionFile = 'correction.json';
const notFitted: IntervalParams = { base: 1, short: 0, noise: 0, narrow: 0, clipped: 0 };

/** Names and bytes of the files of a model. */
type Files = ReadonlyMap<string, Uint8Array | string>;

/**
 * Writes the bytes that were checked, and no other file of `base`, which may come from strangers.
 * @param out a folder that does not exist; it appears when it is complete
 */
export async function writeModels(
  base: string,
  out: string,
  adaptation: Adaptation,
  source: Source,
): Promise<void> {
  const partial = `${out}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(dirname(out), { recursive: true });
  await mkdir(partial);
  for (const model of await readModelFolders(base)) {
    const { name } = model.manifest;
    await mkdir(join(partial, name));
    const files = [...(await filesOf(model)), ...adaptHead(model, adaptation, source)];
    for (const [file, bytes] of new Map<string, Uint8Array | string>(files))
      await writeNew(join(partial, name, file), bytes);
  }
  for (const [name, golden] of Object.entries(await goldensOf(await loadModels(partial))))
    await writeNew(join(partial, name, 'golden.json'), toJson(golden));
  await rename(partial, out);
}

/** Never through a link, nor over another file. */
function writeNew(path: string, bytes: Uint8Array | string): Promise<void> {
  return writeFile(path, bytes, { flag: 'wx' });
}

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

async function filesOf({ path, files }: ModelFolder): Promise<Files> {
  const card = await readCard(path);
  return card === null ? files : new Map([...files, ['CARD.md', card]]);
}

/** The files of the model that change: none when it stays as it is. */
function adaptHead({ manifest: head }: ModelFolder, adaptation: Adaptation, source: Source): Files {
  if (head.kind !== 'emotion' && head.kind !== 'cognitive') return new Map();
  const names = dimensions.filter((name) => name in head.params.intervals);
  const correction: HeadCorrection = {
    labels: head.kind === 'emotion' ? labelsOf(head, adaptation) : null,
    scores: Object.fromEntries(
      names.flatMap((name) => {
        const found = adaptation.dimensions[name]?.adaptation;
        return found ? [[name, found.correction]] : [];
      }),
    ),
  };
  if (correction.labels === null && Object.keys(correction.scores).length === 0) return new Map();
  const text = formatCorrection(correction);
  const manifest = describe(head, text, { correction, adaptation, source });
  return new Map([
    [correctionFile, text],
    ['manifest.json', toJson(manifest)],
    ['CARD.md', adaptationCard(manifest, adaptation, source.command)],
  ]);
}

function labelsOf(head: ManifestOf<'emotion'>, { labels }: Adaptation): HeadCorrection['labels'] {
  return labels?.adaptation ? { ...labels.adaptation, known: head.labels ?? [] } : null;
}

type Changes = {
  readonly correction: HeadCorrection;
  readonly adaptation: Adaptation;
  readonly source: Source;
};

function describe(head: Head, text: string, { correction, adaptation, source }: Changes): Manifest {
  const intervals: Rules = { ...head.params.intervals };
  for (const name of namesOf(correction)) {
    const { widen = 1 } = adaptation.dimensions[name]?.adaptation ?? {};
    const rule = intervals[name] ?? notFitted;
    intervals[name] = { ...rule, base: rule.base * widen };
  }
  const { training, evidence } = head;
  const recordings = recordingsOf(correction, adaptation);
  return {
    ...head,
    description: `${head.description}; adapted to recordings of ${source.name}`,
    labels: correction.labels?.labels ?? head.labels,
    correction: {
      file: correctionFile,
      sha256: sha256(Buffer.from(text)),
      labelsSha256: source.labelsSha256,
    },
    params: {
      ...calibrated(head.params, correction, intervals),
      intervals,
      ...clarityOf(head, correction, source),
      ...relativeOf(head, correction),
    },
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
    evidence: { ...evidence, figures: evidenceFigures(correction, adaptation) },
  } as Manifest;
}

/** Labels are calibrated once they were fitted, dimensions once they have an interval. */
function calibrated(params: Head['params'], { labels }: HeadCorrection, intervals: Rules): Head['params'] {
  if (!('uncalibrated' in params)) return params;
  const { dimensions } = params;
  const isFitted =
    dimensions.length === 0 ? labels !== null : dimensions.every((name) => intervals[name] !== null);
  if (!isFitted) return params;
  const { uncalibrated: _, ...rest } = params;
  return rest;
}

/** The service adds the effects of pauses and rates to the clarity of the head: the scale of the line applies to both. */
function clarityOf(head: Head, { scores }: HeadCorrection, source: Source) {
  if (head.kind !== 'cognitive') return {};
  const scale = scores.clarity?.scale ?? 1;
  const weights = Object.entries(head.params.clarityTiming).map(
    ([name, entry]) => [name, { ...entry, weight: entry.weight * scale }] as const,
  );
  return {
    clarityTiming: Object.fromEntries(weights),
    clarityRatedOn: `${head.params.clarityRatedOn}, adapted to the ratings of ${source.name}`,
  };
}

/** The prior of labels relative to the speaker is of labels that were not fitted. */
function relativeOf(head: Head, correction: HeadCorrection) {
  if (head.kind !== 'emotion' || correction.labels === null) return {};
  const { labels: _, ...relative } = head.params.relative;
  return { relative };
}

/** Results of the parts that a head has. */
function resultsOf(correction: HeadCorrection, adaptation: Adaptation) {
  return [
    ...(correction.labels === null || adaptation.labels === null ? [] : [adaptation.labels]),
    ...namesOf(correction).map((name) => adaptation.dimensions[name] as DimensionResult),
  ];
}

const namesOf = ({ scores }: HeadCorrection) => Object.keys(scores) as Dimension[];

function recordingsOf(correction: HeadCorrection, adaptation: Adaptation): number {
  return Math.max(...resultsOf(correction, adaptation).map(({ recordings }) => recordings));
}

/** Of speakers left out in turn; the figures of the models before hold for those alone. */
function evidenceFigures(
  correction: HeadCorrection,
  adaptation: Adaptation,
): Manifest['evidence']['figures'] {
  return resultsOf(correction, adaptation).flatMap(({ kept, recordings, speakers }) =>
    kept.map(({ figure, after }) => ({
      figure,
      group: 'own recordings, speakers left out in turn',
      value: after.value,
      interval: after.interval === null ? null : ([...after.interval] as [number, number]),
      speakers,
      clips: recordings,
    })),
  );
}
