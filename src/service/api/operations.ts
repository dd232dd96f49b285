/** The operations of the document. */

import { definitions, signals } from '../../engine/schema.ts';
import { scopeOf } from '../auth/token-format.ts';
import type { ErrorCode } from '../errors.ts';
import { accountOperations } from './account-operations.ts';
import { type Answers, jobUpload, json, type Operation, toOperationObject, upload } from './operation.ts';
import { type CodeSample, sampleJob, samples, samplesOfSignal } from './samples.ts';
import { reportName, schemaRef } from './schemas.ts';

// Operations of jobs.

const codes: readonly ErrorCode[] = [
  'unauthenticated',
  'forbidden',
  'rate_limited',
  'not_configured',
  'queue_unavailable',
  'storage_unavailable',
];

const job = {
  tag: 'Jobs',
  security: [{ bearer: [] }],
  invalid: 'ValidationFailure',
} as const;

const id = {
  name: 'id',
  in: 'path',
  required: true,
  description: 'Id of the job.',
  schema: { type: 'string' },
  example: sampleJob,
} as const;

const wait = {
  name: 'wait',
  in: 'query',
  required: false,
  description: 'Seconds to wait for the end of the job, at most 60; more count as 60.',
  schema: { type: 'integer', minimum: 0, maximum: 999_999_999, default: 0 },
} as const;

const key = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A repeat with the same key returns the existing job. Another request with the same key gets 422 `value_error.idempotency_key`.',
  schema: { type: 'string', pattern: '^[!-~]{1,200}$' },
} as const;

const jobOperations: readonly Operation[] = [
  {
    ...job,
    method: 'post',
    path: '/v1/jobs',
    operationId: 'beginJob',
    samples: samples.beginJob,
    summary: 'Create a job',
    description:
      'For long recordings and lists. Requires a token with both scopes. The recording waits encrypted in memory, never on a disk, and is deleted after its analysis. An upload returns JobBegun, a list JobsBegun, both with 202, also for a known idempotency key. The `Location` of an upload is the path of the job.',
    parameters: [key],
    requestBody: jobUpload(schemaRef('JobList')),
    status: 202,
    headers: ['Location'],
    ok: { type: 'application/json', schema: { oneOf: [schemaRef('JobBegun'), schemaRef('JobsBegun')] } },
    codes: [...codes, 'too_large', 'invalid', 'overloaded', 'shutting_down'],
  },
  {
    ...job,
    method: 'get',
    path: '/v1/jobs',
    operationId: 'listJobs',
    samples: samples.listJobs,
    summary: 'Jobs, newest first',
    description:
      'Up to 100 jobs of this token or its account, without results. `next` is the path of the next page.',
    ok: json('JobPage'),
    codes,
  },
  {
    ...job,
    method: 'get',
    path: '/v1/jobs/after/{id}',
    operationId: 'listJobsAfter',
    samples: samples.listJobsAfter,
    summary: 'Older jobs',
    description:
      'Jobs that were created before the job `id`. 404 when that job has expired: start with the first page.',
    parameters: [id],
    ok: json('JobPage'),
    codes: [...codes, 'not_found'],
  },
  {
    ...job,
    method: 'get',
    path: '/v1/jobs/{id}',
    operationId: 'showJob',
    samples: samples.showJob,
    summary: 'State and result of a job',
    description:
      'A job of this token or its account. With `wait`, the response comes when the job has ended, at the latest after that time; repeat it, or use a callback.',
    parameters: [id, wait],
    ok: json('Job'),
    codes: [...codes, 'not_found'],
  },
  {
    ...job,
    method: 'delete',
    path: '/v1/jobs/{id}',
    operationId: 'removeJob',
    samples: samples.removeJob,
    summary: 'Cancel or delete a job',
    description:
      'Deletes the job, its recording and its result. A running analysis stops soon; the callback of an unfinished job has the status `cancelled`.',
    parameters: [id],
    ok: json('Empty'),
    codes: [...codes, 'not_found'],
  },
];

// Operations of live sessions.

const streamOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/stream/tokens',
    operationId: 'createStreamToken',
    samples: samples.createStreamToken,
    tag: 'Live',
    summary: 'A token for one live session',
    description:
      'For browsers, which cannot send a Bearer token with a WebSocket: the token is the second subprotocol of GET /v1/stream, after `undertone.v1`. It opens one session within 60 s; the session may last longer.',
    security: [{ bearer: [] }],
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: schemaRef('StreamTokenRequest'),
          example: { scopes: ['analyze:emotion'] },
        },
      },
    },
    ok: json('StreamToken'),
    invalid: 'ValidationFailure',
    codes: [
      'unauthenticated',
      'forbidden',
      'too_large',
      'invalid',
      'rate_limited',
      'overloaded',
      'storage_unavailable',
      'shutting_down',
    ],
  },
];

const analysisCodes: readonly ErrorCode[] = [
  'unauthenticated',
  'forbidden',
  'too_large',
  'invalid',
  'rate_limited',
  'overloaded',
  'deadline',
  'worker_lost',
  'storage_unavailable',
  'shutting_down',
  'not_ready',
];

const combined = { oneOf: [schemaRef('Report'), schemaRef('ChannelsReport'), schemaRef('SpeakersReport')] };

function analysis(
  path: string,
  operationId: string,
  scopes: string,
  ok: Operation['ok'],
  about: string,
  samples: readonly CodeSample[],
): Operation {
  return {
    method: 'post',
    path,
    operationId,
    samples,
    tag: 'Analysis',
    summary: `Analyse ${about}`,
    description: `Requires a token with ${scopes}. Nothing of the upload is written to disk or logged. The same recording gives the same response, except for \`request_id\` and \`receipt\`. With less than 0.5 s of speech, \`status\` is \`insufficient_speech\`.`,
    security: [{ bearer: [] }],
    requestBody: upload,
    ok,
    headers: ['Server-Timing', 'RateLimit', 'RateLimit-Policy'],
    invalid: 'ValidationFailure',
    codes: analysisCodes,
  };
}

const open = { security: [], tag: 'Service', method: 'get', invalid: 'ValidationFailure' } as const;

const operations: readonly Operation[] = [
  ...signals.map((signal) =>
    analysis(
      `/v1/analyze/${signal}`,
      `analyze${signal.charAt(0).toUpperCase()}${signal.slice(1)}`,
      `the scope \`${scopeOf(signal)}\``,
      json(reportName(signal)),
      definitions[signal].title,
      samplesOfSignal(signal),
    ),
  ),
  analysis(
    '/v1/analyze',
    'analyze',
    'both scopes',
    { type: 'application/json', schema: combined },
    'both from one pass',
    samples.analyze,
  ),
  {
    ...analysis(
      '/v1/embed',
      'embed',
      'the scope `embed`',
      json('EmbeddingReport'),
      'a recording',
      samples.embed,
    ),
    summary: 'Embeddings of a recording and of its utterances',
    description:
      '404 unless UNDERTONE_EMBEDDINGS is `on`. Requires a token with the scope `embed`. Embeddings identify speakers and more: docs/adapt.md says what can be read out of them. Not with `channels`, `segments` or `receipt`; `baseline` is not used.',
    codes: [...analysisCodes, 'not_found'],
  },
  ...jobOperations,
  ...streamOperations,
  {
    ...open,
    path: '/v1/usage',
    operationId: 'usage',
    samples: samples.usage,
    summary: 'Usage of the calling token',
    description:
      'Requests, errors and seconds of audio per day (UTC) of the last 90 days. Any token may read its own.',
    security: [{ bearer: [] }],
    ok: json('Usage'),
    headers: ['RateLimit', 'RateLimit-Policy'],
    codes: ['unauthenticated', 'rate_limited', 'storage_unavailable'],
  },
  {
    ...open,
    path: '/v1/models',
    operationId: 'models',
    samples: samples.models,
    summary: 'The evidence card of each model',
    description: 'Version, hashes, data, licences, metrics, limits and rule of every loaded model.',
    ok: json('Models'),
    codes: [],
  },
  {
    ...open,
    path: '/.well-known/undertone-keys.json',
    operationId: 'receiptKeys',
    samples: samples.receiptKeys,
    summary: 'The public keys of receipts',
    description: 'JSON Web Keys (Ed25519), retired ones too: with them anyone can check a receipt.',
    ok: json('ReceiptKeys'),
    codes: [],
  },
  {
    ...open,
    path: '/health',
    operationId: 'health',
    samples: samples.health,
    summary: 'Liveness',
    description: '200 while the process serves requests, also under full load.',
    ok: json('Empty'),
    codes: [],
  },
  {
    ...open,
    path: '/ready',
    operationId: 'ready',
    samples: samples.ready,
    summary: 'Readiness',
    description:
      '200 when the models are loaded, the service is not shutting down, and the queue has not been full for 5 s.',
    ok: json('Readiness'),
    codes: ['not_ready', 'shutting_down', 'overloaded'],
  },
  {
    ...open,
    path: '/metrics',
    operationId: 'metrics',
    samples: samples.metrics,
    summary: 'Prometheus metrics',
    description:
      '404 unless UNDERTONE_METRICS_ADDRESS is `public`: by default, metrics are served only at 127.0.0.1:9464.',
    ok: { type: 'text/plain', schema: { type: 'string', description: 'Prometheus text format 0.0.4.' } },
    codes: ['not_found'],
  },
  {
    ...open,
    path: '/openapi.json',
    operationId: 'document',
    samples: samples.document,
    summary: 'This document',
    description: 'OpenAPI 3.1, made from the validating schemas. GET /docs renders it.',
    ok: { type: 'application/json', schema: { type: 'object', description: 'An OpenAPI 3.1 document.' } },
    codes: [],
  },
  {
    ...open,
    path: '/asyncapi.json',
    operationId: 'asyncDocument',
    samples: samples.asyncDocument,
    summary: 'The document of live sessions',
    description: 'AsyncAPI 3.0, made from the validating schemas: the messages of GET /v1/stream.',
    ok: { type: 'application/json', schema: { type: 'object', description: 'An AsyncAPI 3.0 document.' } },
    codes: [],
  },
  ...accountOperations,
];

export function pathsOf(answers: Answers): Readonly<Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const operation of operations) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method]: toOperationObject(operation, answers),
    };
  }
  return paths;
}
