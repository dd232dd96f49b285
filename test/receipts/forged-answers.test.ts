/** Answers that differ from the one that was signed, in one byte or by one field: each is refused. */
import { text } from 'node:stream/consumers';
import test from 'ava';
import fc from 'fast-check';
import { wavFile } from '../../benchmarks/upload-body.ts';
import type { AnalyzeRequest } from '../../src/engine/analyze.ts';
import { composeReport } from '../../src/engine/compose-report.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { encodeWithReceipt } from '../../src/service/compose-receipt.ts';
import { type StoredJob, streamEvent, streamJob } from '../../src/service/jobs/job-json.ts';
import { loadOrCreateKeys } from '../../src/service/receipt-keys.ts';
import { signReceipt } from '../../src/service/receipts.ts';
import { findMismatch, readAnswer } from '../../src/service/verify-receipt.ts';
import { limits, samplesOf } from '../support/analysis.ts';
import { makeFolder } from '../support/folder.ts';

const voice = samplesOf('speech.wav');
const mono = wavFile(voice);
const stereo = wavFile(
  Float32Array.from({ length: 2 * voice.length }, (_, at) => voice[at >> 1] ?? 0),
  16_000,
  2,
);
const segments = [
  { start: 0, end: 4, speaker: 'A' },
  { start: 5, end: 9, speaker: 'B' },
];

/** As the service sends them; each changed alone. */
const kinds: Readonly<Record<string, Partial<AnalyzeRequest>>> = {
  'a report': { audio: mono },
  'a report of one signal': { audio: mono, signals: ['emotion'] },
  'a report per channel': { audio: stereo, channels: 'split' },
  'a report per speaker': { audio: mono, segments },
  'a job': { audio: mono },
  'a callback': { audio: mono },
};
const requestId = 'id-of-request';

const [analyzer, keys] = await Promise.all([
  createAnalyzer({ modelsDir: 'models/standard', limits }),
  loadOrCreateKeys(`${makeFolder()}/keys.json`),
]);

/** Analyses one after the other. */
let turn: Promise<unknown> = Promise.resolve();

async function answerOf(kind: string) {
  const request = {
    baselines: [],
    ...defaultOptions,
    signals: ['emotion', 'cognitive'],
    cancel: null,
    hashSamples: true,
    ...kinds[kind],
  } as AnalyzeRequest;
  const analyzed = turn.then(() => analyzer.analyze(request));
  turn = analyzed;
  const analyses = await analyzed;
  const report = composeReport(request, analyses, requestId);
  const { id, key } = keys.current();
  const unsigned = encodeWithReceipt(analyzer, request, { analyses, report }, { keyId: id, purpose: null });
  signReceipt(unsigned, key);
  async function* pieces() {
    yield unsigned.json;
  }
  const streams: Readonly<Record<string, AsyncIterable<string | Uint8Array>>> = {
    'a job': streamJob(job, {}, pieces),
    'a callback': streamEvent(job, pieces),
  };
  return { text: await text(streams[kind] ?? pieces()), refusal: refusalOf(request) };
}

const time = '2027-01-01T00:00:00.000Z';
const job: StoredJob = {
  id: `job_${'0'.repeat(20)}`,
  status: 'done',
  reason: null,
  created_at: time,
  finished_at: time,
  expires_at: time,
  progress: null,
  metadata: {},
  errorJson: null,
  bytes: 0,
};

/** Returns why the bytes are refused; null when they are not. */
const refusalOf =
  ({ audio: recording, segments }: AnalyzeRequest) =>
  (answer: Uint8Array | string): string | null => {
    const { receipt, report } = readAnswer(Buffer.from(answer)) ?? { receipt: null, report: null };
    if (receipt === null || report === null) return 'unreadable';
    return findMismatch(receipt, { recording, baselines: [], segments, reports: [report] }, keys.published);
  };

const isSpace = (byte: number) => [0x09, 0x0a, 0x0d, 0x20].includes(byte);
/** `\/` and `/` are one character. */
const isEscape = (byte: number, next: number | undefined) => byte === 0x5c && next === 0x2f;

/** Bytes of a report but for the values of `request_id`. */
function covered(text: string): number[] {
  const bytes = Buffer.from(text);
  const from = bytes.indexOf('"result":') < 0 ? 0 : bytes.indexOf('"result":') + 9;
  const until = bytes.lastIndexOf(from === 0 ? '' : ',"error"');
  const uncovered = new Set<number>();
  for (let at = bytes.indexOf(requestId); at >= 0; at = bytes.indexOf(requestId, at + 1)) {
    for (let index = at; index <= at + requestId.length; index += 1) uncovered.add(index);
  }
  return Array.from({ length: until - from }, (_, index) => from + index).filter((at) => !uncovered.has(at));
}

for (const kind of Object.keys(kinds)) {
  test(`no changed, added or missing byte of ${kind} passes`, async (t) => {
    const { text, refusal } = await answerOf(kind);
    t.is(refusal(text), null);
    t.is(refusal(JSON.stringify(JSON.parse(text), null, 2)), null, 'spaces are free');
    const bytes = Buffer.from(text);
    const change = fc.record({
      at: fc.constantFrom(...covered(text)),
      byte: fc.nat(255),
      removed: fc.constantFrom(0, 1),
      added: fc.constantFrom(0, 1),
    });
    fc.assert(
      fc.property(change, ({ at, byte, removed, added }) => {
        const next = bytes[at + removed];
        fc.pre(added + removed > 0 && !(added === 1 && (isSpace(byte) || isEscape(byte, next))));
        fc.pre(!(added === 1 && removed === 1 && byte === bytes[at]));
        const middle = added === 1 ? [byte] : [];
        const changed = [bytes.subarray(0, at), Uint8Array.from(middle), bytes.subarray(at + removed)];
        return refusal(Buffer.concat(changed)) !== null;
      }),
      { numRuns: 600 },
    );
  });

  test(`no field more passes anywhere in ${kind}`, async (t) => {
    const { text, refusal } = await answerOf(kind);
    const starts = [...text.matchAll(/\{"(\w+)":/g)].map(({ index, 1: name = '' }) => ({ index, name }));
    const field = fc.constantFrom(...starts).chain(({ index, name }) =>
      fc.record({
        index: fc.constant(index),
        name: fc.constantFrom(name, 'request_id', 'result', 'receipt', 'signals', 'note', '__proto__'),
        value: fc.constantFrom('0.99', '"happy"', '"id-2"', '{}', '{"valence":0.99}', 'null'),
      }),
    );
    t.notThrows(() =>
      fc.assert(
        fc.property(field, ({ index, name, value }) => {
          const changed = `${text.slice(0, index + 1)}"${name}":${value},${text.slice(index + 1)}`;
          return refusal(changed) !== null;
        }),
        { numRuns: 600 },
      ),
    );
  });

  test(`request ids of ${kind} have their form alone`, async (t) => {
    const { text, refusal } = await answerOf(kind);
    const quoted = `"${requestId}"`;
    t.is(refusal(text.replaceAll(quoted, '"id-2"')), null);
    for (const wrong of ['"valence 0.99"', '""', '0.99', '{"valence":0.99}', `"${'x'.repeat(129)}"`]) {
      for (let at = text.indexOf(quoted); at >= 0; at = text.indexOf(quoted, at + 1)) {
        t.is(refusal(text.slice(0, at) + wrong + text.slice(at + quoted.length)), 'unreadable', wrong);
      }
    }
  });
}

const forged: readonly (readonly [field: string, value: unknown])[] = [
  ['id', 'happy'],
  ['status', 'failed'],
  ['reason', 'happy'],
  ['created_at', 'today'],
  ['progress', { analysed_s: 1, duration_s: 1 }],
  ['error', { detail: 'happy' }],
  ['emotion', { signals: { valence: 0.99 } }],
];
for (const [kind, fields] of [
  ['a job', [...forged, ['type', 'job.done']]],
  ['a callback', [...forged, ['type', 'job.failed'], ['type', undefined], ['timestamp', 'happy']]],
] as const) {
  test(`the fields of ${kind} that no signature covers leave no room for text but metadata`, async (t) => {
    const { text, refusal } = await answerOf(kind);
    for (const [field, value] of fields)
      t.is(refusal(JSON.stringify({ ...JSON.parse(text), [field]: value })), 'unreadable', field);
  });
}

test('a receipt alone, and numbers and names in other spellings', async (t) => {
  const { text, refusal } = await answerOf('a report');
  const receipt = JSON.stringify(JSON.parse(text).receipt);
  t.is(readAnswer(Buffer.from(receipt))?.report, null);
  t.is(refusal(text.replaceAll('"audio"', '"\\u0061udio"')), null);
  t.is(refusal(text.replace(/("valence":0\.\d+)/, '$10')), 'unreadable');
  t.is(refusal(text.replace(/("clipped_ratio":)0/, '$1-0')), 'unreadable');
  t.is(refusal(text.replace(/("valence":0\.\d+)/, '$100000000000000000001')), 'unreadable');
});

test('nesting of any depth is unreadable', async (t) => {
  const { text, refusal } = await answerOf('a report');
  for (const depth of [20, 5_000, 500_000]) {
    const deep = '['.repeat(depth) + ']'.repeat(depth);
    t.is(refusal(deep), 'unreadable');
    t.is(refusal(text.replace('"signals":{', `"signals":{"deep":${deep},`)), 'unreadable');
    t.is(refusal(text.replace('"scores":[{', `"scores":[{"deep":${deep},`)), 'unreadable');
    t.is(refusal(text.replace('"purpose":null', `"purpose":${deep}`)), 'unreadable');
  }
});
