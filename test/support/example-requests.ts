/** What the document shows as examples, asked of a running service. */
import { readFileSync } from 'node:fs';
import { toneFile } from '../../benchmarks/upload-body.ts';
import type { ExampleResponse } from '../../src/openapi/examples.ts';

export type ExampleService = {
  readonly url: string;
  /** With every scope. */
  readonly token: string;
  /** For emotion alone. */
  readonly narrow: string;
};

type ExampleRequest = {
  readonly name: string;
  readonly summary: string;
  readonly operation: string;
  readonly token?: string | null;
  readonly parts?: Readonly<Record<string, Uint8Array<ArrayBuffer>>>;
};

const sample = readFileSync('examples/sample.wav');
/** What the examples are known by; the service takes it as its own. */
const requestId = 'b0a1f7c2-5d1e-4a55-9d0e-3f6f1c2b7a90';

const questions = (narrow: string): readonly ExampleRequest[] => [
  {
    name: 'emotion',
    summary: 'examples/sample.wav, synthetic speech',
    operation: 'POST /v1/analyze/emotion',
    parts: { audio: sample },
  },
  {
    name: 'emotionOfTone',
    summary: 'A tone of 1 s: too little speech',
    operation: 'POST /v1/analyze/emotion',
    parts: { audio: new Uint8Array(toneFile(1)) },
  },
  {
    name: 'cognitive',
    summary: 'examples/sample.wav, synthetic speech',
    operation: 'POST /v1/analyze/cognitive',
    parts: { audio: sample },
  },
  {
    name: 'cognitiveRelative',
    summary: 'The same recording as its own baseline',
    operation: 'POST /v1/analyze/cognitive',
    parts: { audio: sample, baseline: sample },
  },
  {
    name: 'both',
    summary: 'examples/sample.wav, synthetic speech',
    operation: 'POST /v1/analyze',
    parts: { audio: sample },
  },
  { name: 'noToken', summary: 'No token', operation: 'POST /v1/analyze', token: null },
  {
    name: 'unknownToken',
    summary: 'An unknown token',
    operation: 'POST /v1/analyze',
    token: 'nobody-has-this-token',
  },
  { name: 'noScope', summary: 'A token for emotion alone', operation: 'POST /v1/analyze', token: narrow },
  {
    name: 'noAudio',
    summary: 'No part named audio',
    operation: 'POST /v1/analyze',
    parts: { sound: sample },
  },
  {
    name: 'emptyAudio',
    summary: 'A file without bytes',
    operation: 'POST /v1/analyze',
    parts: { audio: Buffer.alloc(0) },
  },
  {
    name: 'noSound',
    summary: 'A file that is no recording',
    operation: 'POST /v1/analyze',
    parts: { audio: Buffer.from('no sound') },
  },
  {
    name: 'noSuchChannel',
    summary: 'Channel 7 of a mono recording',
    operation: 'POST /v1/analyze',
    parts: { audio: sample, channel: Buffer.from('7') },
  },
  { name: 'health', summary: 'It serves', operation: 'GET /health' },
  { name: 'ready', summary: 'It is ready', operation: 'GET /ready' },
];

export async function sendExamples(service: ExampleService): Promise<Record<string, ExampleResponse>> {
  const answers: Record<string, ExampleResponse> = {};
  for (const question of questions(service.narrow)) {
    const { status, body } = await ask(service, question);
    answers[question.name] = { summary: question.summary, asked: question.operation, status, body };
  }
  return answers;
}

async function ask(
  { url, token }: ExampleService,
  question: ExampleRequest,
): Promise<{ status: number; body: object }> {
  const [method, path] = question.operation.split(' ') as [string, string];
  const form = new FormData();
  for (const [name, bytes] of Object.entries(question.parts ?? {})) form.append(name, new Blob([bytes]));
  const bearer = question.token === undefined ? token : question.token;
  const response = await fetch(url + path, {
    method,
    headers: {
      'X-Request-Id': requestId,
      ...(bearer === null ? {} : { Authorization: `Bearer ${bearer}` }),
    },
    ...(method === 'POST' ? { body: form } : {}),
  });
  return { status: response.status, body: (await response.json()) as object };
}
