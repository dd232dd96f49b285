/** The content of /trust: models, data, figures, failures, keys and retention of this service, from the cards. */
import { correctionOf, type Manifest, publishedName, unavailableOf } from '../models/manifest.ts';
import type { PublicKey } from '../receipts/keys.ts';
import type { Config } from '../runtime/config.ts';
import { countText, type Html, html, prose } from '../runtime/html.ts';
import { version } from '../runtime/paths.ts';
import type { Answer, Failure } from './failures.ts';
import { figureTables } from './figure-table.ts';
import { retentionRows } from './retention.ts';

export type TrustOptions = {
  readonly manifests: readonly Manifest[];
  readonly recordings: readonly FailureRecording[];
  readonly keys: readonly PublicKey[];
  readonly config: Pick<Config, 'jobs' | 'redisUrl'>;
};

/** A recording, its path, and what these models answer. */
export type FailureRecording = Failure & { readonly path: string; readonly answer: Answer };

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

const order: readonly Manifest['kind'][] = ['emotion', 'cognitive', 'vad', 'trunk'];
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
    ${table('Models', ['Model', 'Version', 'What', 'SHA-256 of the weights', 'Licence'], rows)}`;
}

function hashes(manifest: Manifest): Html {
  const correction = correctionOf(manifest);
  const suffix = correction && html`, correction <code>${correction.sha256.slice(0, 16)}</code>`;
  return html`<code>${manifest.weights.sha256.slice(0, 16)}</code>${suffix}`;
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
  <li>Your recordings: <a href="/docs/your-data.md"><code>undertone evaluate</code></a> measures the same figures on them.</li>
</ul>`;
