/** Receipts of the running service, the command and the Python client that verify them, and changes of single bytes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { wavFile } from '../../benchmarks/wav.ts';
import { fixture } from '../../scripts/recordings.ts';
import { publicKeysSchema } from '../../src/receipts/keys.ts';
import { receiptSchema } from '../../src/receipts/receipt.ts';
import { findMismatch } from '../../src/receipts/verify.ts';
import { samplesOf } from '../support/analysis.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { runPython } from '../support/python-client.ts';
import { makeToken, type Server, startServer } from '../support/server.ts';

const sample = readFileSync('examples/sample.wav');
const names = [
  'cbr.mp3',
  'aac.m4a',
  'opus.ogg',
  'vorbis.webm',
  'speech.flac',
  'alac.caf',
  'speech.amr',
  'mono-8k.wav',
  'f32.wav',
];
const recordings: readonly (readonly [name: string, bytes: Uint8Array])[] = [
  ['sample.wav', sample],
  ...names.map((name) => [name, fixture(name)] as const),
];

type Parts = Readonly<Record<string, Uint8Array | string>>;

let server: Server;
const closers: (() => unknown)[] = [];

test.before(async () => {
  server = await startServer(
    { teardown: (close) => closers.push(close) },
    // Every test analyses at once.
    { UNDERTONE_SIGNUP: 'closed', UNDERTONE_QUEUE: '100' },
  );
});

test.after.always(async () => {
  for (const close of closers) await close();
});

async function analyze(
  parts: Parts,
  { path = '/v1/analyze', url = server.url, token = server.token } = {},
): Promise<string> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts))
    form.append(name, typeof value === 'string' ? value : new Blob([Uint8Array.from(value)]));
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(url + path, { method: 'POST', headers, body: form })).text();
}

async function publishedKeys(url = server.url): Promise<string> {
  return (await fetch(`${url}/.well-known/undertone-keys.json`)).text();
}

/** Writes the files of a verification. */
async function writeFiles(parts: Parts, text: string, url = server.url) {
  const folder = makeFolder();
  const write = (name: string, content: Uint8Array | string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  return {
    write,
    answer: write('answer.json', text),
    recording: write('recording', parts.audio as Uint8Array),
    keys: write('keys.json', await publishedKeys(url)),
  };
}

async function verify(parts: Parts, text: string, url = server.url) {
  const { answer, recording, keys, write } = await writeFiles(parts, text, url);
  const others = ['baseline', 'segments'].flatMap((name) =>
    parts[name] === undefined ? [] : [`--${name}`, write(name, parts[name])],
  );
  return runCli(['verify', answer, recording, '--report', answer, '--keys', keys, ...others]);
}

const identical = { code: 0, stdout: 'identical: the recording gives this report again\n', stderr: '' };

test('the receipts of ten recordings are verified by the command and by the Python client', async (t) => {
  const cases: { answer: string; recording: string; keys: string }[] = [];
  for (const [name, audio] of recordings) {
    const parts = { audio, receipt: 'true' };
    const text = await analyze(parts);
    const { answer, recording, keys } = await writeFiles(parts, text);
    cases.push({ answer, recording, keys });
    t.deepEqual(
      await runCli(['verify', answer, recording, '--report', answer, '--keys', keys]),
      identical,
      name,
    );
  }
  const output = await runPython('receipts_test.py', { CASES: JSON.stringify(cases) });
  t.regex(output, /Ran 2 tests[\s\S]*OK/);
});

const voice = samplesOf('speech.wav');
const stereo = wavFile(
  Float32Array.from({ length: 2 * voice.length }, (_, at) => (at % 2 === 0 ? (voice[at >> 1] ?? 0) : 0)),
  16_000,
  2,
);
const segments = JSON.stringify([
  { start: 5, end: 9, speaker: 'B' },
  { start: 0, end: 4, speaker: 'A' },
]);

for (const [about, parts, path] of [
  ['one signal', { audio: sample }, '/v1/analyze/emotion'],
  ['a baseline', { audio: sample, baseline: fixture('speech.flac') }, '/v1/analyze'],
  ['a channel', { audio: stereo, channel: '0' }, '/v1/analyze'],
  ['two channels', { audio: stereo, channels: 'split' }, '/v1/analyze'],
  ['speakers', { audio: sample, segments }, '/v1/analyze'],
  ['too little speech', { audio: wavFile(new Float32Array(16_000)) }, '/v1/analyze'],
] as const) {
  test(`a receipt of ${about} is verified`, async (t) => {
    const text = await analyze({ ...parts, receipt: 'true' }, { path });
    t.regex(text, /"receipt"/);
    t.deepEqual(await verify(parts, text), identical);
  });
}

test('the setting `always` adds receipts', async (t) => {
  const { url } = await startServer(t, { UNDERTONE_WORKERS: '1', UNDERTONE_RECEIPTS: 'always' });
  const parts = { audio: sample };
  t.deepEqual(await verify(parts, await analyze(parts, { url }), url), identical);
});

test('a receipt has the purpose of the token', async (t) => {
  const purpose = 'search in a film archive';
  const token = makeToken(server, 'analyze:emotion', 'archive', '--purpose', purpose);
  const parts = { audio: sample, receipt: 'true' };
  const text = await analyze(parts, { path: '/v1/analyze/emotion', token });
  t.is(JSON.parse(text).receipt.purpose, purpose);
  t.is(JSON.parse(await analyze(parts)).receipt.purpose, null);
  t.deepEqual(await verify(parts, text), identical);
});

test('a report has a receipt on request alone, and is the same with it', async (t) => {
  const plain = JSON.parse(await analyze({ audio: sample }));
  const { receipt, ...signed } = JSON.parse(await analyze({ audio: sample, receipt: 'true' }));
  t.false('receipt' in plain);
  t.deepEqual({ ...signed, request_id: '' }, { ...plain, request_id: '' });
  t.notThrows(() => receiptSchema.parse(receipt));
  t.is(receipt.samples_sha256.length, 1);
});

test('any changed byte of the recording, the report or the receipt is refused', async (t) => {
  const text = await analyze({ audio: sample, receipt: 'true' });
  const { keys } = publicKeysSchema.parse(JSON.parse(await publishedKeys()));
  const { receipt, ...rest } = JSON.parse(text);
  const files = {
    recording: Buffer.from(sample),
    report: Buffer.from(JSON.stringify(rest)),
    receipt: Buffer.from(JSON.stringify(receipt)),
  };
  const evidenceOf = ({ recording, report, receipt }: typeof files) => {
    const evidence = { recording, baselines: [], segments: null, report: JSON.parse(decode(report)) };
    return findMismatch(receiptSchema.parse(JSON.parse(decode(receipt))), evidence, keys);
  };
  t.is(evidenceOf(files), null);
  // The hash of a report does not cover its request id.
  const id = files.report.indexOf(rest.request_id);
  const covered = (name: string, at: number) =>
    name !== 'report' || at < id || at >= id + rest.request_id.length;
  const change = fc
    .constantFrom('recording', 'report', 'receipt')
    .chain((name) =>
      fc.tuple(
        fc.constant(name),
        fc.nat(files[name as keyof typeof files].length - 1),
        fc.integer({ min: 1, max: 255 }),
      ),
    )
    .filter(([name, at]) => covered(name, at));
  fc.assert(
    fc.property(change, ([name, at, difference]) => {
      const changed = Buffer.from(files[name as keyof typeof files]);
      changed[at] = (changed[at] as number) ^ difference;
      return isRefused(() => evidenceOf({ ...files, [name]: changed }));
    }),
    { numRuns: 1500 },
  );
});

const decode = (bytes: Uint8Array) => new TextDecoder('utf-8', { fatal: true }).decode(bytes);

/** Either unreadable or not a match. */
function isRefused(find: () => string | null): boolean {
  try {
    return find() !== null;
  } catch {
    return true;
  }
}

test('the command says what differs', async (t) => {
  const parts = { audio: sample };
  const text = await analyze({ ...parts, receipt: 'true' });
  const { answer, recording, keys, write } = await writeFiles(parts, text);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await runCli(['verify', ...args]);
    return `${code} ${stdout}${stderr}`;
  };
  const other = write('other.wav', fixture('speech.flac'));
  t.is(await run(answer, other, '--keys', keys), '1 different: the recording is another\n');
  const changed = write(
    'changed.json',
    text.replace('"dominant_emotion":"neutral"', '"dominant_emotion":"happy"'),
  );
  t.is(
    await run(answer, recording, '--report', changed, '--keys', keys),
    '1 different: the report is another\n',
  );
  const forged = write('forged.json', text.replace(/("scores":\[\{"emotion":\{"valence":)0/, '$11'));
  t.is(
    await run(forged, recording, '--keys', keys),
    '1 different: the signature is not that of the receipt\n',
  );
  const noKeys = write('none.json', '{"keys":[]}');
  t.regex(await run(answer, recording, '--keys', noKeys), /^1 different: no key has the id [0-9a-f]{16}\n$/);
  t.regex(
    await run(answer, recording, '--keys', keys, '--models', 'fast'),
    /^1 different: \S+ differs most, by 0\.\d{4}; decoding gives the same samples\n[\s\S]*trunk 1\.\d/,
  );
  t.regex(
    await run(answer, join(recording, 'x'), '--keys', keys),
    /^2 Expected a readable file for `recording`/,
  );
  t.regex(await run(recording, recording, '--keys', keys), /^2 Expected an object of JSON for `receipt`/);
  t.regex(await run(keys, recording, '--keys', keys), /^2 Expected a file of a receipt for `receipt`/);
});

test('other words are refused', async (t) => {
  const { detail } = JSON.parse(await analyze({ audio: sample, receipt: 'maybe' }));
  t.deepEqual(detail, [
    {
      loc: ['body', 'receipt'],
      msg: 'Expected true or false for `receipt`, got something else',
      type: 'value_error.receipt',
    },
  ]);
});
