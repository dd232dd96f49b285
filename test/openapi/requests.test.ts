/** What the schemas of requests say that the service refuses. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import Ajv from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import test from 'ava';
import { clientVenv } from '../../scripts/client-venv.ts';
import { openApiDocument } from '../../src/service/api/document.ts';
import { checkTokenInput, nameSchema, TokenError } from '../../src/service/auth/token-input.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { readForm } from '../../src/service/form.ts';

type Upload = { readonly requestBody: { readonly content: Readonly<Record<string, { schema: object }>> } };
type Document = {
  readonly paths: Readonly<Record<string, { readonly post: Upload }>>;
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
};

const document = openApiDocument('1.0.0') as Document;
const ajv = new Ajv.default({ strict: false });
addFormats.default(ajv);

function refuses<Refusal extends Error>(
  action: () => unknown,
  type: new (...args: never[]) => Refusal,
): boolean {
  try {
    action();
    return false;
  } catch (error) {
    if (error instanceof type) return true;
    throw error;
  }
}

const accepts = (name: string) =>
  !refuses(
    () => checkTokenInput({ name, scopes: ['analyze:emotion'], expiresAt: null, purpose: null }, 0),
    TokenError,
  );

/** Names of the character alone, at either end and in the middle. */
function namesOf(code: number): string[] {
  const character = String.fromCodePoint(code);
  return [character, `${character}a`, `a${character}`, `a${character}b`];
}

const codes = (first: number, last: number, step = 1) =>
  Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, index) => first + index * step);

test('the schema of a name is the rule, in ASCII and among controls and general punctuation', (t) => {
  const validate = ajv.compile(document.components.schemas.TokenRequest ?? false);
  const fits = (name: string) => validate({ name, scopes: ['analyze:emotion'] });
  const bounds = [
    '',
    'x'.repeat(64),
    'x'.repeat(65),
    '𐐀'.repeat(64),
    'tok_1',
    'tok',
    'a tok_1',
    'a  b',
    'a\nb',
  ];
  const names = [...codes(0, 0xa9), ...codes(0x2000, 0x206f)].flatMap(namesOf);
  for (const name of [...bounds, ...names]) t.is(fits(name), accepts(name), JSON.stringify(name));
});

test('the schema of a name accepts every letter and digit', (t) => {
  const pattern = new RegExp(nameSchema.pattern, 'u');
  const names = [...codes(0xaa, 0xffff), ...codes(0x10000, 0x10ffff, 13)].flatMap((code) =>
    namesOf(code).slice(0, 1),
  );
  const letters = names.filter((name) => /[\p{L}\p{N}]/u.test(name));
  t.true(letters.length > 50_000, `${letters.length}`);
  t.deepEqual(
    letters.filter((name) => !pattern.test(name)),
    [],
  );
});

function patternsIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'pattern' && typeof inner === 'string' ? [inner] : patternsIn(inner),
  );
}

/** The names that match, and the patterns that are none. */
const python = `
import json, re, sys
names, name, patterns = json.load(sys.stdin)
def compiles(pattern):
    try:
        return bool(re.compile(pattern))
    except (re.error, FutureWarning):
        return False
print(json.dumps([[text for text in names if re.search(name, text)], [one for one in patterns if not compiles(one)]]))
`;

test('the patterns are regular expressions of Python too', (t) => {
  const names = ['ci', 'Büro 2', '名前', 'a_b@c.d-e', '-a', 'a-', 'a/b', 'a\tb', 'a\u200bb'];
  const patterns = [...new Set(patternsIn(document))];
  t.true(patterns.length >= 10 && patterns.includes(nameSchema.pattern));
  const lacking = String.raw`^\p{L}$`;
  const input = JSON.stringify([names, nameSchema.pattern, [...patterns, lacking]]);
  const program = join(clientVenv(), 'python');
  const { stdout, stderr } = spawnSync(program, ['-W', 'error', '-c', python], { input, encoding: 'utf8' });
  t.is(stderr, '');
  t.deepEqual(JSON.parse(stdout), [names.filter(accepts), [lacking]]);
});

const values = {
  baseline: 'RIFF',
  channel: '0',
  channels: 'split',
  segments: '[{"start":0,"end":1,"speaker":"A"}]',
  speakers: '2',
};
type PartName = keyof typeof values;
const partNames = Object.keys(values) as PartName[];

function formOf(names: readonly PartName[]): Uint8Array {
  const parts = [['audio', 'RIFF'], ...names.map((name) => [name, values[name]])];
  const text = parts.map(
    ([name, value]) => `--x\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  return Buffer.from(`${text.join('')}--x--\r\n`);
}

test('the schema of a form refuses the parts that the service refuses with each other', (t) => {
  const { schema = false } =
    document.paths['/v1/analyze']?.post.requestBody.content['multipart/form-data'] ?? {};
  const validate = ajv.compile(schema);
  const bodyOf = (names: readonly PartName[]) =>
    Object.fromEntries([
      ['audio', ''],
      ...names.map((name) => [name, { ...values, baseline: [''], channel: 0 }[name]]),
    ]);
  const sets = codes(0, 2 ** partNames.length - 1).map((set) => partNames.filter((_, at) => set & (1 << at)));
  const refused = sets.filter((names) => refuses(() => readForm(formOf(names), 'x'), ServiceError));
  t.deepEqual(
    sets.filter((names) => !validate(bodyOf(names))),
    refused,
  );
  t.true(refused.length > 0 && refused.length < sets.length);
});

test('the schema of a list of URLs refuses one channel with each of them', (t) => {
  const validate = ajv.compile(document.components.schemas.JobList ?? false);
  const urls = ['https://recordings.example/a.wav'];
  t.true(validate({ urls, channel: 1 }) && validate({ urls, channels: 'split', channel: null }));
  t.true(validate({ urls, channels: null, channel: 1 }));
  t.false(validate({ urls, channels: 'split', channel: 1 }));
  t.true(validate({ urls, speakers: '2', channel: 1 }));
  t.false(validate({ urls, speakers: '2', channels: 'split' }));
});
