/** The trust page, and what its texts say about recordings of known failures. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { readManifests } from '../../src/node/models.ts';
import { modelSets } from '../../src/node/paths.ts';
import { parseConfig } from '../../src/service/config.ts';
import { html, prose } from '../../src/service/html.ts';
import { readFailureScores, readFailures, readTrust, retentionRows } from '../../src/service/trust.ts';
import { noEmotion, withoutEmotion } from '../support/models.ts';

const sets = await Promise.all(
  modelSets.map(async (name) => [name, (await readFailureScores(`models/${name}`)) ?? {}] as const),
);

const manifests = await readManifests('models/standard');
const keys = [
  { kty: 'OKP', crv: 'Ed25519', kid: 'key-1', x: 'x'.repeat(43), signs_from: '2026-01-01T00:00:00.000Z' },
] as const;

function read(
  env: Readonly<Record<string, string>> = {},
  options: Partial<Parameters<typeof readTrust>[0]> = {},
) {
  return readTrust({ manifests, keys, config: parseConfig(env), ...options });
}

test('the page has every model, figure, failure, licence and key', async (t) => {
  const { content } = await read();
  for (const { name, training, evidence } of manifests) {
    const folder = `models/standard/${name}`;
    for (const file of readdirSync(folder).filter((one) => one.endsWith('.onnx'))) {
      const hash = createHash('sha256')
        .update(readFileSync(`${folder}/${file}`))
        .digest('hex');
      t.true(content.includes(html`${file} <code>${hash.slice(0, 16)}</code>`.html), `${name}/${file}`);
    }
    for (const { licence, clips } of training.data) {
      t.true(content.includes(html`${licence}`.html), licence);
      t.true(content.includes(clips.toLocaleString('en')));
    }
    for (const text of evidence.failures) t.true(content.includes(prose(text).html), text);
    for (const { group, value, interval } of evidence.figures) {
      const range = interval === null ? '' : ` (${interval[0].toFixed(2)} to ${interval[1].toFixed(2)})`;
      t.true(content.includes(`<th scope="row">${html`${group}`.html}</th>`), group);
      t.true(content.includes(`<td>${value.toFixed(3)}${range}</td>`), `${group} ${value}`);
    }
  }
  t.true(content.includes('key-1'));
});

test('retention follows the settings', async (t) => {
  const plain = (await read()).content;
  t.regex(plain, /Recording of a job<\/th><td>memory of the service<\/td>/);
  const without = (await read({ UNDERTONE_JOB_WORKERS: '0' })).content;
  t.false(without.includes('Recording of a job'));
  t.true(without.includes('Result of a job from before jobs were turned off'));
  const { content } = await read({
    UNDERTONE_REDIS_URL: 'redis://127.0.0.1',
    UNDERTONE_JOB_RESULT_S: '1800',
  });
  t.true(content.includes('<td>0.5 h, or until it is deleted</td>'));
});

test('docs/compliance.md has the retention of the defaults', (t) => {
  const page = readFileSync('docs/compliance.md', 'utf8').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  for (const [what, , howLong] of retentionRows(parseConfig({ UNDERTONE_REDIS_URL: 'redis://127.0.0.1' }))) {
    const line = page.split('\n').find((row) => row.startsWith(`| ${what} |`));
    const [time = ''] = /\d+ (h|days|minutes)|until the \w+/.exec(howLong) ?? [];
    t.true(line?.includes(time), `${what}: ${howLong}`);
  }
});

test('recordings are linked to files, with the scores of these models', async (t) => {
  const { content, files } = await read();
  const links = [...content.matchAll(/data-recording href="\/trust\/([^"]+)"/g)].map(([, name]) => name);
  t.deepEqual(links, [...files.keys()]);
  t.true(links.length > 0);
  const lacking = await read({}, { manifests: await readManifests(await withoutEmotion(t)) });
  t.true(lacking.content.includes(`. Not available in reports: ${noEmotion}`));
  const fast = await read({ UNDERTONE_MODELS_DIR: 'models/fast' });
  t.not(fast.content, content);
});

test('text of cards and keys is escaped', async (t) => {
  const [first, ...more] = manifests.map((manifest) => structuredClone(manifest));
  const evil = { ...first, description: '<script>`"&\'</script>' } as (typeof manifests)[number];
  const { content } = await read({}, { manifests: [evil, ...more] });
  t.false(content.includes('<script'));
  t.true(content.includes('&lt;script&gt;`&quot;&amp;&#39;&lt;/script&gt;'));
});

// What the texts about the recordings of known failures say, on the shipped models.

type Scores = { readonly dominant_emotion: string; readonly clarity: number };

for (const [name, answers] of sets) {
  const of = (file: string, signal: string) => {
    const { signals, warnings } = answers[file]?.[signal] ?? { signals: {}, warnings: [] };
    return { ...(signals as Scores), warnings };
  };

  test(`${name}: every recording has an answer`, async (t) => {
    const files = (await readFailures()).map(({ file }) => file);
    t.deepEqual(Object.keys(answers), files);
  });

  test(`${name}: synthetic speech, and two voices, have scores without a warning that says so`, (t) => {
    for (const file of ['synthetic.flac', 'two-at-once.flac']) {
      const { dominant_emotion: emotion, warnings } = of(file, 'emotion');
      t.is(typeof emotion, 'string', file);
      const others = warnings.filter((one) => !['low_confidence', 'unlike_training'].includes(one));
      t.deepEqual(others, [], file);
    }
  });

  test(`${name}: sad words in a calm voice are not sad`, (t) => {
    t.not(of('words.flac', 'emotion').dominant_emotion, 'sad');
  });

  test(`${name}: hurried speech is scored as no less clear`, (t) => {
    const [hurried, unhurried] = ['hurried.flac', 'synthetic.flac'].map(
      (file) => of(file, 'cognitive').clarity,
    );
    t.true((hurried ?? 0) > (unhurried ?? 1) - 0.02);
  });
}
