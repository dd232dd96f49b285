/** Requests for the examples of the OpenAPI document, sent to a running service. */
import { readFileSync } from 'node:fs';
import type { ExecutionContext } from 'ava';
import { toneFile } from '../../benchmarks/upload-body.ts';
import { libraryVersions } from '../../src/node/addon.ts';
import type { ExampleResponse } from '../../src/service/api/operation.ts';

export type ExampleService = {
  readonly url: string;
  /** With every scope. */
  readonly token: string;
  /** For emotion alone. */
  readonly narrow: string;
};

/** The parts of the form; the token, unless it is that with every scope. */
type Sent = {
  readonly token?: string | null;
  readonly parts?: Readonly<Record<string, Uint8Array<ArrayBuffer>>>;
};

type ExampleRequest = readonly [name: string, summary: string, operation: string, sent?: Sent];

const sample = readFileSync('examples/sample.wav');
const requestId = 'b0a1f7c2-5d1e-4a55-9d0e-3f6f1c2b7a90';

const [emotion, cognitive, analyze] = ['/emotion', '/cognitive', ''].map(
  (signal) => `POST /v1/analyze${signal}`,
) as [string, string, string];
const speech = 'examples/sample.wav, synthetic speech';
const audio = (bytes: Uint8Array<ArrayBuffer>, more: Sent['parts'] = {}): Sent => ({
  parts: { audio: bytes, ...more },
});

const requests = (narrow: string): readonly ExampleRequest[] => [
  ['emotion', speech, emotion, audio(sample)],
  ['emotionOfTone', 'A tone of 1 s: too little speech', emotion, audio(new Uint8Array(toneFile(1)))],
  ['cognitive', speech, cognitive, audio(sample)],
  [
    'cognitiveRelative',
    'The same recording as its own baseline',
    cognitive,
    audio(sample, { baseline: sample }),
  ],
  ['both', speech, analyze, audio(sample)],
  ['noToken', 'No token', analyze, { token: null }],
  ['unknownToken', 'An unknown token', analyze, { token: 'nobody-has-this-token' }],
  ['noScope', 'A token for emotion alone', analyze, { token: narrow }],
  ['noAudio', 'No part named audio', analyze, { parts: { sound: sample } }],
  ['emptyAudio', 'A file without bytes', analyze, audio(Buffer.alloc(0))],
  ['noSound', 'A file that is no recording', analyze, audio(Buffer.from('no sound'))],
  ['noSuchChannel', 'Channel 7 of a mono recording', analyze, audio(sample, { channel: Buffer.from('7') })],
  ['health', 'It serves', 'GET /health'],
  ['ready', 'It is ready', 'GET /ready'],
];

export async function sendExamples(service: ExampleService): Promise<Record<string, ExampleResponse>> {
  const answers: Record<string, ExampleResponse> = {};
  for (const [name, summary, operation, sent = {}] of requests(service.narrow))
    answers[name] = { summary, request: operation, ...(await ask(service, operation, sent)) };
  return answers;
}

async function ask(
  { url, token: wide }: ExampleService,
  operation: string,
  { token = wide, parts = {} }: Sent,
): Promise<{ status: number; body: object }> {
  const [method, path] = operation.split(' ') as [string, string];
  const form = new FormData();
  for (const [name, bytes] of Object.entries(parts)) form.append(name, new Blob([bytes]));
  const response = await fetch(url + path, {
    method,
    headers: {
      'X-Request-Id': requestId,
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    },
    ...(method === 'POST' ? { body: form } : {}),
  });
  return { status: response.status, body: (await response.json()) as object };
}

/** The answer as docs/http-api.md shows it. */
export function shortened(body: unknown): object {
  const { timeline, segments } = body as Record<'timeline' | 'segments', readonly unknown[]>;
  return { ...(body as object), timeline: timeline.slice(0, 1), segments: segments.slice(0, 2) };
}

/** Processors differ in the last digits of a score. FFmpeg 6.1 decodes Opus otherwise than FFmpeg 5, which the examples are of. */
const tolerance = Number.parseInt(libraryVersions.libavcodec ?? '', 10) < 60 ? 0.02 : 0.06;

export function closeTo(t: ExecutionContext, got: unknown, want: unknown, where: string): void {
  if (typeof got === 'number' && typeof want === 'number') {
    t.true(Math.abs(got - want) <= tolerance * Math.max(1, Math.abs(want)), `${where}: ${got}, not ${want}`);
  } else if (typeof got === 'object' && got !== null && typeof want === 'object' && want !== null) {
    t.deepEqual(Object.keys(got), Object.keys(want), where);
    for (const [key, value] of Object.entries(got))
      closeTo(t, value, (want as Record<string, unknown>)[key], `${where}.${key}`);
  } else t.is(got, want, where);
}
