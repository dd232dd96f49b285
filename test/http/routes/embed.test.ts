/** POST /v1/embed, `undertone embed`, `embed` of the package and of a client give the same embeddings. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { toneFile } from '../../../benchmarks/upload-body.ts';
import { createClient } from '../../../clients/typescript/src/index.ts';
import type { EmbeddingReport } from '../../../src/engine/embedding-report.ts';
import { version } from '../../../src/node/paths.ts';
import { openApiDocument } from '../../../src/service/api/document.ts';
import { analyze, embed } from '../../../src/tools/index.ts';
import { runCli } from '../../support/cli.ts';
import { createContract, type Document } from '../../support/contract.ts';
import { makeToken, type Server, startServer } from '../../support/server.ts';

const sample = readFileSync('examples/sample.wav');
const contract = createContract(openApiDocument(version) as Document);

let server: Server;
let token: string;
const closers: (() => unknown)[] = [];

test.before(async () => {
  server = await startServer({ teardown: (close) => closers.push(close) }, { UNDERTONE_EMBEDDINGS: 'on' });
  token = makeToken(server, 'embed');
});

test.after.always(async () => {
  for (const close of closers) await close();
});

type Parts = Readonly<Record<string, Uint8Array<ArrayBuffer> | string>>;

async function post(parts: Parts, { url = server.url, path = '/v1/embed', bearer = token } = {}) {
  const form = new FormData();
  for (const [name, part] of Object.entries(parts))
    form.append(name, typeof part === 'string' ? part : new Blob([part]));
  const response = await fetch(url + path, {
    method: 'POST',
    headers: { Authorization: `Bearer ${bearer}` },
    body: form,
  });
  return { status: response.status, body: (await response.json()) as EmbeddingReport & { detail: unknown } };
}

const audio = { audio: sample };
/** Small enough to be sent before a response, also while analyses keep this thread busy. */
const tone = { audio: new Uint8Array(toneFile(1)) };

test('service, command, package and client agree', async (t) => {
  const { status, body } = await post(audio);
  t.is(status, 200);
  t.is(contract.fault('POST /v1/embed', 200, body), null);
  const { request_id: _, ...report } = body;
  t.deepEqual(report, await embed(sample));
  const { stdout, stderr } = await runCli(['embed', 'examples/sample.wav']);
  t.deepEqual(JSON.parse(stdout), { path: 'examples/sample.wav', ...report });
  t.is(stderr, '1 file, 0 failed\n');
  const client = createClient({ url: server.url, token });
  t.deepEqual((await client.embed(sample)).embedding, report.embedding);
});

test('embeddings are those of the trunk, with the times of the utterances', async (t) => {
  const { body } = await post(audio);
  const { embeddings, emotion } = await analyze(sample, { embeddings: true });
  const { weights } = JSON.parse(readFileSync('models/standard/trunk/manifest.json', 'utf8'));
  t.is(body.model.weights_sha256, weights.sha256);
  t.is(body.embedding?.length, 1536);
  t.true(body.embedding?.every((value, at) => Math.abs(value - (embeddings?.recording[at] ?? 0)) < 1e-5));
  const times = ({ start_s, end_s }: { start_s: number; end_s: number }) => ({ start_s, end_s });
  t.true(body.timeline.length > 0);
  t.deepEqual(body.timeline.map(times), (emotion?.timeline ?? []).map(times));
});

test('too little speech has none', async (t) => {
  const { status, body } = await post(tone);
  t.is(status, 200);
  t.like(body, { status: 'insufficient_speech', embedding: null, timeline: [] });
  t.is(contract.fault('POST /v1/embed', 200, body), null);
});

for (const [name, value, message] of [
  ['channels', 'split', 'Expected POST /v1/analyze or /v1/jobs for `channels`, got another path'],
  ['receipt', 'true', 'Expected false for `receipt` of embeddings, got true'],
] as const) {
  test(`the part ${name} is refused`, async (t) => {
    const { status, body } = await post({ ...audio, [name]: value });
    t.is(status, 422);
    t.like(body.detail, [{ loc: ['body', name], msg: message }]);
  });
}

test('the scope `embed` gives embeddings alone, and no other scope does', async (t) => {
  t.is((await post(tone, { bearer: server.token })).status, 403);
  t.is((await post(tone, { path: '/v1/analyze' })).status, 403);
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const issued = await fetch(`${server.url}/v1/stream/tokens`, { method: 'POST', headers, body: '{}' });
  t.is(issued.status, 200);
});

test('off by default', async (t) => {
  const plain = await startServer(t);
  const bearer = makeToken(plain, 'embed');
  const { status, body } = await post(tone, { url: plain.url, bearer });
  t.is(status, 404);
  t.is(contract.fault('POST /v1/embed', 404, body), null);
});

test('the command names files that cannot be analysed', async (t) => {
  const { code, stdout, stderr } = await runCli(['embed', 'README.md', 'examples/sample.wav']);
  t.is(code, 1);
  t.is(stdout.split('\n').length, 2);
  t.regex(stderr, /^README\.md: .*\n2 files, 1 failed\n$/);
});
