/** The code samples of the documents: each has no type errors, and calls the operation that it stands for. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import test from 'ava';
import { freePort } from '../../benchmarks/peers/stack.ts';
import { asyncApiDocument, openApiDocument } from '../../src/service/api/document.ts';
import { type CodeSample, sampleAddress, sampleJob } from '../../src/service/api/samples.ts';
import { follow } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { type JobStack, jobOf, startJobStack } from '../support/jobs.ts';
import { type Invocation, invocations, run, strictCurl } from '../support/programs.ts';
import { makeToken, type Server, startServer } from '../support/server.ts';
import { mypyErrors, tscErrors } from '../support/type-checks.ts';
import { until } from '../support/wait.ts';

type Sampled = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly 'x-codeSamples'?: readonly CodeSample[];
};

const { paths, webhooks } = openApiDocument('1.0.0') as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Sampled>>>>;
  readonly webhooks: { readonly jobEnded: { readonly post: Sampled } };
};
const { channels } = asyncApiDocument('1.0.0') as {
  readonly channels: { readonly stream: { readonly 'x-codeSamples': readonly CodeSample[] } };
};

const operations = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    ...operation,
  })),
);
const callback = webhooks.jobEnded.post['x-codeSamples'] ?? [];
const live = channels.stream['x-codeSamples'];
const all = [...operations.flatMap((operation) => operation['x-codeSamples'] ?? []), ...callback, ...live];

const recording = 'examples/sample.wav';
const languages = { Shell: 'sh', TypeScript: 'ts', Python: 'python' } as const;

/** A sample against the running service, with the recording and a job that are there. */
function invocationOf({ lang, source }: CodeSample, url: string, env: Invocation[2], job = ''): Invocation {
  const here = source
    .replaceAll(sampleAddress, url)
    .replaceAll('recording.wav', recording)
    .replaceAll(sampleJob, job);
  return invocations[languages[lang]](here, env);
}

test('every operation but those of the account page has a sample in each language', (t) => {
  for (const { operationId, tags, 'x-codeSamples': samples = [] } of operations) {
    const expected = tags.includes('Account') ? [] : ['Shell', 'TypeScript', 'Python'];
    t.deepEqual(
      samples.map(({ lang }) => lang),
      expected as typeof expected & CodeSample['lang'][],
      operationId,
    );
  }
  t.deepEqual(
    [callback, live].map((samples) => samples.map(({ lang }) => lang)),
    [
      ['TypeScript', 'Python'],
      ['TypeScript', 'Python'],
    ],
  );
});

test.serial('the samples have no type errors', (t) => {
  const sources = (lang: CodeSample['lang']) =>
    all.filter((sample) => sample.lang === lang).map(({ source }) => source);
  t.deepEqual(tscErrors(sources('TypeScript')), []);
  t.deepEqual(mypyErrors(sources('Python')), []);
});

/** Responses so far, by method and path as the document has it. */
async function countsOf({ url }: Server): Promise<ReadonlyMap<string, number>> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const counts = new Map<string, number>();
  for (const [, route = '', method, status, count] of text.matchAll(
    /^undertone_requests_total\{route="([^"]+)",method="(\w+)",status="(\d+)"\} (\d+)$/gm,
  )) {
    const asked = `${method} ${route.replace(/:(\w+)/g, '{$1}')}`;
    if (Number(status) < 300) counts.set(asked, (counts.get(asked) ?? 0) + Number(count));
  }
  return counts;
}

const bytes = readFileSync(recording);

/** @returns the new job */
async function submit(stack: JobStack, callback?: string) {
  const parts = [
    { name: 'audio', bytes },
    ...(callback === undefined ? [] : [{ name: 'callback', bytes: callback }]),
  ];
  return jobOf(await stack.upload(parts));
}

test.serial('each sample calls its operation', async (t) => {
  const port = await freePort();
  const stack = await startJobStack(t, {
    UNDERTONE_EMBEDDINGS: 'on',
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
    UNDERTONE_JOB_URL_PREFIXES: `http://127.0.0.1:${port}/`,
  });
  const { server } = stack;
  const { id } = await submit(stack);
  const worker = await stack.startWorker();
  await stack.ended(id);
  await worker.stop();
  // Without a worker these jobs stay: more than a page of them.
  const urls = Array.from({ length: 100 }, (_, index) => `http://127.0.0.1:${port}/${index}.wav`);
  t.is((await stack.list({ urls })).status, 202);
  const newest = await submit(stack);
  const curl = await strictCurl(makeFolder());
  for (const { operationId, method, path, 'x-codeSamples': samples = [] } of operations) {
    const token = operationId === 'embed' ? makeToken(server, 'embed', 'search') : server.token;
    for (const sample of samples) {
      const job =
        operationId === 'removeJob' ? (await submit(stack)).id : operationId === 'showJob' ? id : newest.id;
      const asked = `${method} ${path}`;
      const before = (await countsOf(server)).get(asked) ?? 0;
      const { code, output } = await run(
        ...invocationOf(sample, server.url, { ...curl, UNDERTONE_TOKEN: token }, job),
      );
      t.is(code, 0, `${sample.source}\n${output}`);
      t.true(output.length > 0 || operationId === 'removeJob', sample.source);
      // Reading the counts is a request too.
      const own = asked === 'GET /metrics' ? 1 : 0;
      t.true(((await countsOf(server)).get(asked) ?? 0) > before + own, `${asked}: ${sample.source}`);
    }
  }
});

for (const sample of callback) {
  test.serial(`the sample of a callback accepts those of the service: ${sample.label}`, async (t) => {
    const port = await freePort();
    const stack = await startJobStack(t, { UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1' });
    await stack.startWorker();
    const address = `http://127.0.0.1:${port}/`;
    const { callback_secret: secret = '' } = await submit(stack, address);
    const source = sample.source.replace('9000', String(port));
    const [command, args, env] = invocations[languages[sample.lang]](source, { CALLBACK_SECRET: secret });
    const receiver = follow(t, spawn(command, args, { env: { PATH: process.env.PATH, ...env } }));
    const isListening = () =>
      fetch(address).then(
        () => true,
        () => false,
      );
    await until(isListening);
    t.is((await fetch(address, { method: 'POST', body: '{}' })).status, 400);
    const { id } = await submit(stack, address);
    await receiver.printed(new RegExp(`^${id} done$`, 'm'));
    t.pass();
  });
}

for (const sample of live) {
  test.serial(`the sample of a live session prints turns and scores: ${sample.label}`, async (t) => {
    const server = await startServer(t);
    const env = { UNDERTONE_TOKEN: server.token };
    const { code, output } = await run(...invocationOf(sample, server.url, env));
    t.is(code, 0, output);
    t.regex(output, /^\d+\.\d+ \d+\.\d+$/m);
    t.regex(output, /valence.*clarity/s);
  });
}
