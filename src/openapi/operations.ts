/** The operations of the document. */

import { definitions, signals } from '../analysis/signals/table.ts';
import { scopeOf } from '../auth/token-input.ts';
import type { ErrorCode } from '../runtime/errors.ts';
import { accountOperations } from './account-operations.ts';
import { jobOperations } from './job-operations.ts';
import { type Answers, json, type Operation, toOperationObject } from './operation.ts';
import { reportName, schemaRef } from './schemas.ts';
import { streamOperations } from './stream-operations.ts';
import { upload } from './uploads.ts';

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
): Operation {
  return {
    method: 'post',
    path,
    operationId,
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
    ),
  ),
  analysis(
    '/v1/analyze',
    'analyze',
    'both scopes',
    { type: 'application/json', schema: combined },
    'both from one pass',
  ),
  {
    ...analysis('/v1/embed', 'embed', 'the scope `embed`', json('EmbeddingReport'), 'a recording'),
    summary: 'Embeddings of a recording and of its utterances',
    description:
      '404 unless UNDERTONE_EMBEDDINGS is `on`. Requires a token with the scope `embed`. Embeddings identify speakers and more: docs/embeddings.md says what can be read out of them. Not with `channels`, `segments` or `receipt`; `baseline` is not used.',
    codes: [...analysisCodes, 'not_found'],
  },
  ...jobOperations,
  ...streamOperations,
  {
    ...open,
    path: '/v1/usage',
    operationId: 'usage',
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
    summary: 'The evidence card of each model',
    description: 'Version, hashes, data, licences, metrics, limits and rule of every loaded model.',
    ok: json('Models'),
    codes: [],
  },
  {
    ...open,
    path: '/.well-known/undertone-keys.json',
    operationId: 'receiptKeys',
    summary: 'The public keys of receipts',
    description: 'JSON Web Keys (Ed25519), retired ones too: with them anyone can check a receipt.',
    ok: json('ReceiptKeys'),
    codes: [],
  },
  {
    ...open,
    path: '/health',
    operationId: 'health',
    summary: 'Liveness',
    description: '200 while the process serves requests, also under full load.',
    ok: json('Empty'),
    codes: [],
  },
  {
    ...open,
    path: '/ready',
    operationId: 'ready',
    summary: 'Readiness',
    description:
      '200 when the models are loaded, the service is not shutting down, and the queue has not been full for 5 s.',
    ok: json('Empty'),
    codes: ['not_ready', 'shutting_down', 'overloaded'],
  },
  {
    ...open,
    path: '/metrics',
    operationId: 'metrics',
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
    summary: 'This document',
    description: 'OpenAPI 3.1, made from the validating schemas. GET /docs renders it.',
    ok: { type: 'application/json', schema: { type: 'object', description: 'An OpenAPI 3.1 document.' } },
    codes: [],
  },
  {
    ...open,
    path: '/asyncapi.json',
    operationId: 'asyncDocument',
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
