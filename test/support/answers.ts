/** What the document shows as examples, asked of a running service. */
import { readFileSync } from 'node:fs';
import type { ExampleResponse } from '../../src/openapi/examples.ts';
import { toneFile } from './upload.ts';

export type Asked = {
  readonly url: string;
  /** With every scope. */
  readonly token: string;
  /** For emotion alone. */
  readonly narrow: string;
};

type Question = {
  readonly name: string;
  readonly summary: string;
  readonly asked: string;
  readonly token?: string | null;
  readonly parts?: Readonly<Record<string, Uint8Array<ArrayBuffer>>>;
};

const sample = readFileSync('examples/sample.wav');
/** What the examples are known by; the service takes it as its own. */
const requestId = 'b0a1f7c2-5d1e-4a55-9d0e-3f6f1c2b7a90';

const questions = (narrow: string): readonly Question[] => [
  {
    name: 'emotion',
    summary: 'examples/sample.wav, synthetic speech',
    asked: 'POST /v1/analyze/emotion',
    parts: { audio: sample },
  },
  {
    name: 'emotionOfTone',
    summary: 'A tone of 1 s: too little speech',
    asked: 'POST /v1/analyze/emotion',
    parts: { audio: new Uint8Array(toneFile(1)) },
  },
  {
    name: 'cognitive',
    summary: 'examples/sample.wav, synthetic speech',
    asked: 'POST /v1/analyze/cognitive',
    parts: { audio: sample },
  },
  {
    name: 'cognitiveRelative',
    summary: 'The same recording as its own baseline',
    asked: 'POST /v1/analyze/cognitive',
    parts: { audio: sample, baseline: sample },
  },
  {
    name: 'both',
    summary: 'examples/sample.wav, synthetic speech',
    asked: 'POST /v1/analyze',
    parts: { audio: sample },
  },
  { name: 'noToken', summary: 'No token', asked: 'POST /v1/analyze', token: null },
  {
    name: 'unknownToken',
    summary: 'An unknown token',
    asked: 'POST /v1/analyze',
    token: 'nobody-has-this-token',
  },
  { name: 'noScope', summary: 'A token for emotion alone', asked: 'POST /v1/analyze', token: narrow },
  { name: 'noAudio', summary: 'No part named audio', asked: 'POST /v1/analyze', parts: { sound: sample } },
  {
    name: 'emptyAudio',
    summary: 'A file without bytes',
    asked: 'POST /v1/analyze',
    parts: { audio: Buffer.alloc(0) },
  },
  {
    name: 'noSound',
    summary: 'A file that is no recording',
    asked: 'POST /v1/analyze',
    parts: { audio: Buffer.from('no sound') },
  },
  {
    name: 'noSuchChannel',
    summary: 'Channel 7 of a mono recording',
    asked: 'POST /v1/analyze',
    parts: { audio: sample, channel: Buffer.from('7') },
  },
  { name: 'health', summary: 'It serves', asked: 'GET /health' },
  { name: 'ready', summary: 'It is ready', asked: 'GET /ready' },
];

export async function askAll(service: Asked): Promise<Record<string, ExampleResponse>> {
  const answers: Record<string, ExampleResponse> = {};
  for (const question of questions(service.narrow)) {
    const { status, body } = await ask(service, question);
    answers[question.name] = { summary: question.summary, asked: question.asked, status, body };
  }
  return answers;
}

async function ask({ url, token }: Asked, question: Question): Promise<{ status: number; body: object }> {
  const [method, path] = question.asked.split(' ') as [string, string];
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
