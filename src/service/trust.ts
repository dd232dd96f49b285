/** The content of /trust: models, data, figures, failures, keys and retention of this service, from the cards. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { type Analyzer, combinedReport, defaultOptions } from '../engine/index.ts';
import { filesOf, type Manifest, publishedName, signals, unavailableOf } from '../engine/schema.ts';
import { readOptionalJson } from '../node/models.ts';
import { failuresFolder, version } from '../node/paths.ts';
import { usageDays } from './auth/usage.ts';
import type { Config } from './config.ts';
import { countText, type Html, html, prose } from './html.ts';
import { intervalPicture, type Scale, scaleOf } from './interval-picture.ts';
import type { PublicKey } from './receipt-keys.ts';

export type Trust = {
  /** HTML */
  readonly content: string;
  /** By name, which contains a hash of the content. */
  readonly files: ReadonlyMap<string, Buffer>;
};

export async function readTrust(
  options: Omit<TrustOptions, 'recordings'> & { readonly config: Pick<Config, 'modelsDir'> },
): Promise<Trust> {
  const answers = await readFailureScores(options.config.modelsDir);
  const all = answers === null ? [] : await readFailures();
  const read = await Promise.all(all.map((failure) => readAnswered(failure, answers as Answers)));
  return {
    content: trustPage({ ...options, recordings: read.map(({ recording }) => recording) }),
    files: new Map(read.map(({ name, bytes }) => [name, bytes])),
  };
}

async function readAnswered(
  failure: Failure,
  answers: Answers,
): Promise<{ readonly recording: FailureRecording; readonly name: string; readonly bytes: Buffer }> {
  const bytes = await readRecording(failure);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
  const name = failure.file.replace('.', `-${hash}.`);
  return {
    recording: { ...failure, path: `/trust/${name}`, answer: answers[failure.file] ?? {} },
    name,
    bytes,
  };
}

type TrustOptions = {
  readonly manifests: readonly Manifest[];
  readonly recordings: readonly FailureRecording[];
  readonly keys: readonly PublicKey[];
  readonly config: Pick<Config, 'jobs' | 'redisUrl'>;
};

/** A recording, its path, and what these models answer. */
type FailureRecording = Failure & { readonly path: string; readonly answer: FailureAnswer };

export function trustPage(options: TrustOptions): string {
  const { keys, config } = options;
  const manifests = options.manifests.toSorted((one, other) => rank(one) - rank(other));
  const heads = manifests.filter(({ trunk }) => trunk !== null);
  return html`
    ${section('use', 'What it is for', uses(heads))}
    ${section('models', 'Models', models(manifests))}
    ${section('figures', 'How often it is right', figureTables(manifests))}
    ${section('failures', 'Known failures', failures(manifests, options.recordings))}
    ${section('data', 'Training recordings', data(manifests))}
    ${section('keys', 'Keys of receipts', publishedKeys(keys))}
    ${section('retention', 'What is kept', retention(config))}
    ${section('check', 'Check it yourself', checks)}
  `.html;
}

const order: readonly Manifest['kind'][] = [...signals, 'vad', 'voice', 'trunk'];
const rank = ({ kind }: Manifest) => order.indexOf(kind);

function section(id: string, title: string, content: Html): Html {
  return html`<section class="card stack" id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${content}</section>`;
}

function list(texts: readonly string[]): Html {
  return html`<ul>${texts.map((text) => html`<li>${prose(text)}</li>`)}</ul>`;
}

function table(title: string, head: readonly string[], rows: readonly (readonly (string | Html)[])[]): Html {
  return html`<div class="table-scroll" role="region" tabindex="0" aria-label="${title}"><table>
    <thead><tr>${head.map((cell) => html`<th scope="col">${cell}</th>`)}</tr></thead>
    <tbody>${rows.map(([first, ...cells]) => html`<tr><th scope="row">${first ?? ''}</th>${cells.map((cell) => html`<td>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}

function uses(heads: readonly Manifest[]): Html {
  const of = (key: 'intendedUse' | 'unintendedUse') => [
    ...new Set(heads.flatMap(({ evidence }) => evidence[key])),
  ];
  return html`<div class="columns">
    <div><h3>Intended</h3>${list(of('intendedUse'))}</div>
    <div><h3>Not intended</h3>${list(of('unintendedUse'))}</div>
  </div>`;
}

function models(manifests: readonly Manifest[]): Html {
  const rows = manifests.map((manifest) => [
    publishedName(manifest.name),
    manifest.version,
    prose(describe(manifest)),
    hashes(manifest),
    manifest.licence,
  ]);
  return html`<p>Undertone ${version}. <a href="/v1/models">The cards as JSON</a>.</p>
    ${table('Models', ['Model', 'Version', 'What', 'Files, with the start of their SHA-256', 'Licence'], rows)}`;
}

function hashes(manifest: Manifest): Html {
  const hashed = filesOf(manifest).map(
    ({ file, sha256 }) => html`${file} <code>${sha256.slice(0, 16)}</code> `,
  );
  return html`${hashed}`;
}

function describe(manifest: Manifest): string {
  const reason = unavailableOf(manifest);
  return reason === null
    ? manifest.description
    : `${manifest.description}. Not available in reports: ${reason}`;
}

function failures(manifests: readonly Manifest[], recordings: readonly FailureRecording[]): Html {
  const known = manifests.filter(({ evidence }) => evidence.failures.length > 0);
  const items = recordings.map(recordingItem);
  return html`${
    items.length === 0
      ? null
      : html`<p>Synthetic recordings, and what these models answer:</p><ul class="recordings">${items}</ul>`
  }
    ${known.map(({ name, evidence }) => html`<h3>${publishedName(name)}</h3>${list(evidence.failures)}`)}`;
}

function recordingItem({ title, about, path, answer }: FailureRecording): Html {
  const signals = Object.entries(answer).map(([signal, { signals: scores, warnings }]) => {
    const shown = Object.entries(scores).filter(([, value]) => ['number', 'string'].includes(typeof value));
    const values = shown.map(([name, value]) => `${name} ${value}`).join(', ');
    const warned = warnings.length === 0 ? 'no warning' : warnings.join(', ');
    return html`<dt>${signal}</dt><dd>${values}; <strong>${warned}</strong></dd>`;
  });
  return html`<li><h3>${title}</h3><p>${prose(about)}</p>
    <p><a class="button" data-recording href="${path}">Listen</a></p><dl class="small">${signals}</dl></li>`;
}

function data(manifests: readonly Manifest[]): Html {
  const names = [...new Set(manifests.flatMap(({ training }) => training.data.map(({ name }) => name)))];
  const rows = names.map((name) => {
    const used = manifests.map(({ training }) => training.data.find((set) => set.name === name));
    const licence = used.find((set) => set !== undefined)?.licence ?? '';
    return [name, licence, ...used.map((set) => (set === undefined ? '' : countText(set.clips)))];
  });
  const head = ['Set', 'Licence', ...manifests.map(({ name }) => publishedName(name))];
  const deployment = [...new Set(manifests.map(({ evidence }) => evidence.deployment))];
  return html`<p>Recordings per model.</p>${table('Training recordings', head, rows)}
    <details><summary>Licence of the weights</summary>${deployment.map((text) => html`<p class="small">${text}</p>`)}</details>`;
}

function publishedKeys(keys: readonly PublicKey[]): Html {
  const rows = keys.map(({ kid, signs_from, x }) => [
    html`<code>${kid}</code>`,
    signs_from,
    html`<code>${x}</code>`,
  ]);
  return html`<p>Signatures of <a href="/docs/receipts.md">receipts</a> are checked with these Ed25519 keys, also
    <a href="/.well-known/undertone-keys.json">as JSON</a>.</p>${table('Keys', ['Id', 'Signs from', 'Public key'], rows)}`;
}

function retention(config: TrustOptions['config']): Html {
  return html`<p>Nothing of an upload is written to disk or logged by this service.</p>
    ${table('Retention', ['What', 'Where', 'How long'], retentionRows(config))}`;
}

const checks = html`<ul>
  <li>One report: ask for a <a href="/docs/receipts.md">receipt</a>, and replay it with <code>undertone verify</code>.</li>
  <li>This installation: <code>undertone doctor</code> checks the models and repeats the examples.</li>
  <li>Your recordings: <a href="/docs/adapt.md"><code>undertone evaluate</code></a> measures the same figures on them.</li>
</ul>`;

// The figures of the cards, as tables with a picture of each value and its interval.

type Figure = Manifest['evidence']['figures'][number];

function figureTables(manifests: readonly Manifest[]): Html {
  const measured = manifests.filter(({ evidence }) => evidence.figures.length > 0);
  return html`<p>Measured through the whole service on speakers that the models were not trained on, with 95 % intervals
    (bootstrap over speakers). Expect the figures of speech that nobody acted and of corpora left out.
    <a href="/docs/models.md">How they were measured</a>.</p>
    ${measured.map(({ name, evidence }, index) => modelTable(name, evidence.figures, index === 0))}`;
}

function modelTable(name: string, figures: readonly Figure[], open: boolean): Html {
  const byTitle = new Map<string, Figure[]>();
  for (const figure of figures) {
    const rows = byTitle.get(titleOf(figure));
    if (rows === undefined) byTitle.set(titleOf(figure), [figure]);
    else rows.push(figure);
  }
  const groups = [...byTitle].map(([title, rows]) => {
    const scale = scaleOf(rows);
    return html`<tbody><tr><th scope="rowgroup" colspan="5">${title}</th></tr>${rows.map((row) => figureRow(row, scale))}</tbody>`;
  });
  return html`<details ${open ? { html: 'open' } : null}><summary>${publishedName(name)}</summary><div class="table-scroll" role="region" tabindex="0" aria-label="Figures of ${publishedName(name)}"><table class="figures">
    <thead><tr><th scope="col">Of</th><th scope="col"><span class="visually-hidden">Picture</span></th>
      <th scope="col">Value, 95 % interval</th><th scope="col">Speakers</th><th scope="col">Recordings</th></tr></thead>
    ${groups}</table></div></details>`;
}

/** Corpora with different numbers of labels are in one group. */
function titleOf({ figure }: Figure): string {
  return figure
    .replace(/^UAR of its \d+ labels$/, 'UAR of the labels of the corpus')
    .replace(/^UAR of the corpus's labels$/, 'UAR of the labels of the corpus, by language and sex');
}

function figureRow(figure: Figure, scale: Scale): Html {
  const { value, interval, speakers, clips } = figure;
  const range = interval === null ? '' : ` (${interval[0].toFixed(2)} to ${interval[1].toFixed(2)})`;
  return html`<tr><th scope="row">${figure.group}</th><td>${intervalPicture(figure, scale)}</td>
    <td>${value.toFixed(3)}${range}</td><td>${speakers}</td><td>${countText(clips)}</td></tr>`;
}

// What a service with these settings keeps, where, and how long. docs/compliance.md has the same table for the defaults.

type Row = readonly [what: string, where: string, howLong: string];

/** The database may still have results. */
const ofEarlierJobs: Row = [
  'Result of a job from before jobs were turned off',
  'database',
  'until the expiry that was set with it',
];

export function retentionRows({ jobs, redisUrl }: Pick<Config, 'jobs' | 'redisUrl'>): readonly Row[] {
  const ofJobs: readonly Row[] = [
    [
      'Recording of a job',
      redisUrl === null ? 'memory of the service' : 'memory of Redis, encrypted',
      `until the analysis, max ${hours(jobs.audioSeconds)}`,
    ],
    ['Result and metadata of a job', 'database', `${hours(jobs.resultSeconds)}, or until it is deleted`],
  ];
  return [
    ['Recording of a request or live session', 'memory of the process', 'until the response'],
    ...(jobs.available ? ofJobs : [ofEarlierJobs]),
    ['Counts of requests, errors and seconds per token', 'database', `${usageDays} days`],
    ['Name and purpose of a token', 'database', 'until the account is deleted'],
    [
      'Log lines: token id, bytes, seconds, status, times',
      'standard error',
      'set by the operator; they have no audio, file name or score',
    ],
    ['Recording that waits for log-in', 'storage of the browser', '15 minutes'],
    ['E-mail address and password hash of an account', 'database', 'until the account is deleted'],
  ];
}

function hours(seconds: number): string {
  return `${Number((seconds / 3600).toFixed(2))} h`;
}

// Recordings that are scored wrongly (models/failures), and the scores that a folder of models gives to them (failures.json).

const answersFile = 'failures.json';

const failuresSchema = z.array(
  z.strictObject({
    file: z.string().regex(/^[\w-]+\.flac$/),
    title: z.string(),
    /** What the recording is, and what is wrong about its scores. */
    about: z.string(),
  }),
);

/** By signal. */
const answer = z.record(
  z.string(),
  z.strictObject({ signals: z.looseObject({}), warnings: z.array(z.string()) }),
);
const answersSchema = z.record(z.string(), answer);

export type Failure = Readonly<z.infer<typeof failuresSchema>[number]>;
/** By file name. */
type Answers = Readonly<z.infer<typeof answersSchema>>;
type FailureAnswer = Readonly<z.infer<typeof answer>>;

export async function readFailures(): Promise<readonly Failure[]> {
  return failuresSchema.parse(JSON.parse(await readFile(join(failuresFolder, 'index.json'), 'utf8')));
}

/** FLAC, 16 kHz mono. */
function readRecording({ file }: Failure): Promise<Buffer> {
  return readFile(join(failuresFolder, file));
}

/** Returns null where these models have no answers. */
export async function readFailureScores(modelsDir: string): Promise<Answers | null> {
  const json = await readOptionalJson(modelsDir, answersFile);
  return json === null ? null : answersSchema.parse(json);
}

/** Returns the part of the report that failures.json has. */
export async function analyzeFailure(analyzer: Analyzer, failure: Failure): Promise<FailureAnswer> {
  const audio = await readRecording(failure);
  const request = { ...defaultOptions, audio, baselines: [], signals, cancel: null };
  const [analysis] = await analyzer.analyze(request);
  const report = combinedReport(analysis, '');
  return Object.fromEntries(
    signals.map((signal) => {
      const { signals: scores, warnings } = report[signal];
      return [signal, { signals: scores, warnings: [...warnings] }];
    }),
  );
}
