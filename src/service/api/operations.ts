/** The operations of the document. */
import { definitions, signals } from '../../engine/schema.ts';
import { scopeOf } from '../auth/token-format.ts';
import type { ErrorCode } from '../errors.ts';
import { accountOperations } from './account-operations.ts';
import { upload } from './form-schemas.ts';
import { jobOperations } from './job-operations.ts';
import { type Answers, json, type Operation, toOperationObject } from './operation.ts';
import { samples, samplesOfSignal } from './samples.ts';
import { reportName, schemaRef } from './schemas.ts';

const streamToken: Operation = {
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
};

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
  operation: Pick<Operation, 'path' | 'operationId' | 'ok' | 'samples'>,
  scopes: string,
  about: string,
): Operation {
  return {
    ...operation,
    method: 'post',
    tag: 'Analysis',
    summary: `Analyse ${about}`,
    description: `Requires a token with ${scopes}. Nothing of the upload is written to disk or logged. The same recording gives the same response, except for \`request_id\` and \`receipt\`. With less than 0.5 s of speech, \`status\` is \`insufficient_speech\`.`,
    security: [{ bearer: [] }],
    requestBody: upload,
    headers: ['Server-Timing', 'RateLimit', 'RateLimit-Policy'],
    invalid: 'ValidationFailure',
    codes: analysisCodes,
  };
}

const open = { security: [], tag: 'Service', method: 'get', invalid: 'ValidationFailure' } as const;

const operations: readonly Operation[] = [
  ...signals.map((signal) =>
    analysis(
      {
        path: `/v1/analyze/${signal}`,
        operationId: `analyze${signal.charAt(0).toUpperCase()}${signal.slice(1)}`,
        ok: json(reportName(signal)),
        samples: samplesOfSignal(signal),
      },
      `the scope \`${scopeOf(signal)}\``,
      definitions[signal].title,
    ),
  ),
  analysis(
    {
      path: '/v1/analyze',
      operationId: 'analyze',
      ok: { type: 'application/json', schema: combined },
      samples: samples.analyze,
    },
    'both scopes',
    'both from one pass',
  ),
  {
    ...analysis(
      { path: '/v1/embed', operationId: 'embed', ok: json('EmbeddingReport'), samples: samples.embed },
      'the scope `embed`',
      'a recording',
    ),
    summary: 'Embeddings of a recording and of its utterances',
    description:
      '404 unless UNDERTONE_EMBEDDINGS is `on`. Requires a token with the scope `embed`. Embeddings identify speakers and more: docs/adapt.md says what can be read out of them. Not with `channels`, `segments` or `receipt`; `baseline` is not used.',
    codes: [...analysisCodes, 'not_found'],
  },
  ...jobOperations,
  streamToken,
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
