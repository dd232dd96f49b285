/** Receipts of the running service, the command and the Python client that verify them, and changes of single bytes. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { fixture } from '../../scripts/recordings.ts';
import { type Receipt, receiptSchema } from '../../src/engine/receipt.ts';
import { addKey, publicKeysSchema } from '../../src/service/receipt-keys.ts';
import { findMismatch, readAnswer } from '../../src/service/verify-receipt.ts';
import { samplesOf } from '../support/analysis.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { memoize } from '../support/memoize.ts';
import { exportedFolder, onnxFile, writeDullness } from '../support/onnx-source.ts';
import { runPython } from '../support/python-client.ts';
import { makeToken, startServer } from '../support/server.ts';
import { share } from '../support/share.ts';
import { words } from '../support/words.ts';

const sample = readFileSync('examples/sample.wav');
const names = 'cbr.mp3 aac.m4a opus.ogg vorbis.webm speech.flac alac.caf speech.amr mono-8k.wav f32.wav';

type Parts = Readonly<Record<string, Uint8Array | string>>;

/** Every test analyses at once. */
const shared = share(test, (t) => startServer(t, { UNDERTONE_SIGNUP: 'closed', UNDERTONE_QUEUE: '100' }));

async function analyze(
  parts: Parts,
  { path = '/v1/analyze', url = shared().url, token = shared().token } = {},
): Promise<string> {
  const form = new FormData();
  for (const [name, value] of Object.entries(parts))
    form.append(name, typeof value === 'string' ? value : new Blob([Uint8Array.from(value)]));
  const headers = { Authorization: `Bearer ${token}` };
  return (await fetch(url + path, { method: 'POST', headers, body: form })).text();
}

async function publishedKeys(url = shared().url): Promise<string> {
  return (await fetch(`${url}/.well-known/undertone-keys.json`)).text();
}

/** The answer for the sample, with a receipt. */
const genuine = memoize<void, Promise<string>>(() => analyze({ audio: sample, receipt: 'true' }));

/** Writes the files of a verification. */
async function writeFiles(parts: Parts, text: string, url = shared().url) {
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

async function verify(parts: Parts, text: string, url = shared().url) {
  const { answer, recording, keys, write } = await writeFiles(parts, text, url);
  const others = ['baseline', 'segments'].flatMap((name) =>
    parts[name] === undefined ? [] : [`--${name}`, write(name, parts[name])],
  );
  return runCli(['verify', answer, recording, '--keys', keys, ...others]);
}

const identical = { code: 0, stdout: 'identical: the recording gives this report again\n', stderr: '' };

test('the receipts of ten recordings are verified by the command and by the Python client', async (t) => {
  const cases: { answer: string; recording: string; keys: string }[] = [];
  for (const name of ['sample', ...names.split(' ')]) {
    const parts = { audio: name === 'sample' ? sample : fixture(name), receipt: 'true' };
    const { answer, recording, keys } = await writeFiles(parts, await analyze(parts));
    cases.push({ answer, recording, keys });
    t.deepEqual(await runCli(['verify', answer, recording, '--keys', keys]), identical, name);
  }
  for (const parts of [
    { audio: stereo, channels: 'split' },
    { audio: sample, segments },
    { audio: sample, speakers: '2' },
  ]) {
    cases.push(await writeFiles(parts, await analyze({ ...parts, receipt: 'true' })));
  }
  const output = await runPython('receipts_test.py', { CASES: JSON.stringify(cases) });
  t.regex(output, /Ran 5 tests[\s\S]*OK/);
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
  ['voices', { audio: sample, speakers: 'auto' }, '/v1/analyze'],
  ['too little speech', { audio: wavFile(new Float32Array(16_000)) }, '/v1/analyze'],
] as const) {
  test(`a receipt of ${about} is verified`, async (t) => {
    const text = await analyze({ ...parts, receipt: 'true' }, { path });
    t.regex(text, /"receipt"/);
    t.deepEqual(await verify(parts, text), identical);
  });
}

test('with a clock behind the creation of the key, analyses and receipts go on', async (t) => {
  const path = join(makeFolder(), 'receipt-keys.json');
  await addKey(path, new Date(Date.now() + 7_200_000));
  const { url, stderr } = await startServer(t, { UNDERTONE_RECEIPT_KEYS: path });
  t.regex(stderr(), /the clock is behind the start of the receipt keys/);
  t.regex(await analyze({ audio: sample }, { url }), /"status":"ok"/);
  const parts = { audio: sample, receipt: 'true' };
  const text = await analyze(parts, { url });
  t.true(Math.abs(Date.parse(JSON.parse(text).receipt.issued_at) - Date.now()) < 600_000);
  t.deepEqual(await verify(parts, text, url), identical);
});

test('a set with a graph of another maker has receipts, which its folder alone verifies', async (t) => {
  const mine = join(makeFolder(), 'mine');
  const source = exportedFolder(onnxFile({ write: writeDullness }));
  t.is((await runCli(['models', 'add', source, '--out', mine])).code, 0);
  const { url, token } = await startServer(t, { UNDERTONE_MODELS_DIR: mine });
  const text = await analyze({ audio: sample, receipt: 'true' }, { url, token });
  const { answer, recording, keys } = await writeFiles({ audio: sample }, text, url);
  const args = ['verify', answer, recording, '--keys', keys];
  t.deepEqual(await runCli([...args, '--models', mine]), identical);
  const { code, stdout } = await runCli(args);
  t.is(code, 1);
  t.regex(stdout, /emotion 1\.0\.0 \([0-9a-f]{8}\), here 4\./);
});

test('the setting `always` adds receipts', async (t) => {
  const { url } = await startServer(t, { UNDERTONE_RECEIPTS: 'always' });
  const parts = { audio: sample };
  t.deepEqual(await verify(parts, await analyze(parts, { url }), url), identical);
});

test('a receipt has the purpose of the token', async (t) => {
  const purpose = 'search in a film archive';
  const token = makeToken(shared(), 'analyze:emotion', 'archive', '--purpose', purpose);
  const parts = { audio: sample, receipt: 'true' };
  const text = await analyze(parts, { path: '/v1/analyze/emotion', token });
  t.is(JSON.parse(text).receipt.purpose, purpose);
  t.is(JSON.parse(await analyze(parts)).receipt.purpose, null);
  t.deepEqual(await verify(parts, text), identical);
});

test('a report has a receipt on request alone, and is the same with it', async (t) => {
  const plain = JSON.parse(await analyze({ audio: sample }));
  const { receipt, ...signed } = JSON.parse(await genuine());
  t.false('receipt' in plain);
  t.deepEqual({ ...signed, request_id: '' }, { ...plain, request_id: '' });
  t.notThrows(() => receiptSchema.parse(receipt));
  t.is(receipt.samples_sha256.length, 1);
});

test('what a report ignored is part of it, and of its receipt', async (t) => {
  const parts = { audio: sample, receipt: 'true', chanel: '0' };
  const text = await analyze(parts, { path: '/v1/analyze?segmnts=x' });
  const report = JSON.parse(text);
  const ignored = [
    { name: 'chanel', msg: 'Unknown part: did you mean `channel`?' },
    { name: 'segmnts', msg: 'Unknown query parameter: did you mean the part `segments`?' },
  ];
  t.deepEqual([report.ignored, report.receipt.options.ignored], [ignored, ignored]);
  t.deepEqual(await verify(parts, text), identical);
  const other = await verify(parts, text.replaceAll('chanel', 'chanol'));
  t.is(other.code, 1, other.stdout);
});

test('any changed byte of the recording is refused', async (t) => {
  const { receipt, report } = readAnswer(Buffer.from(await genuine())) ?? {};
  const { keys } = publicKeysSchema.parse(JSON.parse(await publishedKeys()));
  const refusalOf = (recording: Uint8Array) =>
    findMismatch(
      receipt as Receipt,
      { recording, baselines: [], segments: null, reports: [report as object] },
      keys,
    );
  t.is(refusalOf(sample), null);
  const change = fc.tuple(fc.nat(sample.length - 1), fc.integer({ min: 1, max: 255 }));
  fc.assert(
    fc.property(change, ([at, difference]) => {
      const changed = Buffer.from(sample);
      changed[at] = (changed[at] as number) ^ difference;
      return refusalOf(changed) === 'the recording is another';
    }),
  );
});

const otherFile =
  /^2 Expected a receipt, a report or a job that is done for `(receipt|--report)`, got another file: .*\n$/;

test('the command says what differs', async (t) => {
  const text = await genuine();
  const { answer, recording, keys, write } = await writeFiles({ audio: sample }, text);
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
  const forged = write('forged.json', text.replace(/("scores":\[\{"emotion":\{"valence":0\.)/, '$19'));
  t.is(
    await run(forged, recording, '--keys', keys),
    '1 different: the signature is not that of the receipt\n',
  );
  const noKeys = write('none.json', '{"keys":[]}');
  t.regex(await run(answer, recording, '--keys', noKeys), /^1 different: no key has the id [0-9a-f]{16}\n$/);
  t.regex(
    await run(answer, recording, '--keys', keys, '--models', 'fast'),
    /^1 different: \S+ differs most, by 0\.\d{4}; decoding gives the same samples\n[\s\S]*trunk \S+ \(\w{8}\), here \S+ \(\w{8}\)\n/,
  );
  t.regex(
    await run(answer, join(recording, 'x'), '--keys', keys),
    /^2 Expected a readable file for `recording`/,
  );
  const plain = write('plain.json', JSON.stringify({ ...JSON.parse(text), receipt: undefined }));
  t.regex(await run(plain, recording, '--keys', keys), /^2 Expected a report with a receipt for `receipt`/);
  t.regex(await run(answer, recording, '--keys', answer), /^2 Expected a file of public keys for `--keys`/);
  t.regex(await run(recording, recording, '--keys', keys), otherFile);
  t.regex(await run(keys, recording, '--keys', keys), otherFile);
});

test('the verdict names what was checked', async (t) => {
  const text = await genuine();
  const { answer, recording, keys, write } = await writeFiles({ audio: sample }, text);
  const receipt = write('receipt.json', JSON.stringify(JSON.parse(text).receipt));
  const run = (...args: string[]) => runCli(['verify', ...args, '--keys', keys]);
  const alone = 'receipt genuine, no report checked: the recording gives its report again\n';
  t.deepEqual(await run(receipt, recording), { code: 0, stdout: alone, stderr: '' });
  t.deepEqual(await run(receipt, recording, '--report', answer), identical);
  t.is((await run(receipt, recording, '--models', 'fast')).stdout.split(':')[0], 'different');
});

/** Answers that show other scores than the one that was signed; the report of the receipt comes with them, or is nowhere. */
const forgeries: Readonly<Record<string, readonly [forge: (text: string) => string, refused: RegExp]>> = {
  'other scores with a genuine receipt': [
    (text) => text.replace(/"valence":0\./, '"valence":0.9'),
    /^1 different: the report is another\n$/,
  ],
  'a field `result` with the genuine report': [
    (text) => text.replace(/"valence":0\./, '"valence":0.9').replace(/\}\s*$/, `,"result":${text}}`),
    otherFile,
  ],
  'names that occur twice': [(text) => text.replace(/"valence":0/, '"valence":0.99,"valence":0'), otherFile],
  'text in `request_id`': [
    (text) => text.replace(/"request_id":"/, '"request_id":"valence 0.99, '),
    otherFile,
  ],
  'scores in a `request_id` of a signal': [
    (text) => text.replace(/"signals":\{/, '"signals":{"request_id":{"valence":0.99},'),
    otherFile,
  ],
  'nesting without end': [
    (text) => text.replace(/"signals":\{/, `"signals":{"deep":${'['.repeat(50_000)}${']'.repeat(50_000)},`),
    otherFile,
  ],
};

for (const [about, [forge, refused]] of Object.entries(forgeries)) {
  test(`the command refuses ${about}`, async (t) => {
    const parts = { audio: sample };
    const text = await genuine();
    const forged = forge(text);
    t.not(forged, text);
    const { code, stdout, stderr } = await verify(parts, forged);
    t.regex(`${code} ${stdout}${stderr}`, refused);
    const { recording, keys, write } = await writeFiles(parts, text);
    const receipt = write('receipt.json', JSON.stringify(JSON.parse(text).receipt));
    const report = write('forged', forged);
    const separate = await runCli(words`verify ${receipt} ${recording} --report ${report} --keys ${keys}`);
    t.regex(`${separate.code} ${separate.stdout}${separate.stderr}`, refused);
  });
}

test('a report with the receipt of another is refused', async (t) => {
  const text = await genuine();
  const { answer, recording, keys, write } = await writeFiles({ audio: sample }, text);
  const other = write('other.json', text.replace('"purpose":null', '"purpose":"film archive"'));
  const { stdout } = await runCli(['verify', answer, recording, '--report', other, '--keys', keys]);
  t.is(stdout, 'different: the report has another receipt\n');
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
