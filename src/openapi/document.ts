/** The OpenAPI 3.1 document, built from the validation schemas and the table of errors. */
import type { ErrorCode } from '../runtime/errors.ts';
import { errorTable, retriedStatuses } from './errors.ts';
import { exampleResponses } from './examples.ts';
import { pathsOf } from './operations.ts';
import { componentSchemas, schemaRef } from './schemas.ts';

const introduction = `Undertone analyses *how* a person speaks. Upload a recording, get JSON: emotion and cognitive signals.

Every response has an \`X-Request-Id\`. HEAD is supported like GET. Queries are ignored where a path documents none, and listed in the report of an analysis. Fields may be added within v1.
Retry only ${retriedStatuses.join(', ')} and lost connections, after 1, 2, 4 s and so on, or after \`Retry-After\` where that is longer.

Errors of all paths:

| Status | Code | When |
|---|---|---|
`;

const headers = {
  'X-Request-Id': {
    description: 'That of the request if it has 1 to 128 of A-Z a-z 0-9 . _ -, a new one otherwise.',
    schema: { type: 'string' },
  },
  'Server-Timing': {
    description: 'Milliseconds of each stage, as W3C Server Timing.',
    schema: { type: 'string' },
  },
  'WWW-Authenticate': { description: 'The scheme to use.', schema: { type: 'string', const: 'Bearer' } },
  RateLimit: {
    description: 'With rate limits: the remainder of each, `"token";r=REQUESTS;t=SECONDS`.',
    schema: { type: 'string' },
  },
  'RateLimit-Policy': {
    description: 'With rate limits: each limit, `"token";q=REQUESTS;w=SECONDS`.',
    schema: { type: 'string' },
  },
  Location: { description: 'Path of the new job.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait before a retry.', schema: { type: 'integer', minimum: 0 } },
};

/** The callback of a job. */
const jobEnded = {
  post: {
    operationId: 'jobEnded',
    tags: ['Jobs'],
    summary: 'A job has ended',
    description: 'Sent to `callback`, signed as in the Standard Webhooks specification.',
    security: [],
    requestBody: { required: true, content: { 'application/json': { schema: schemaRef('JobEvent') } } },
    responses: {
      '2XX': { description: 'Delivered.' },
      '410': { description: 'Delivery ends.' },
    },
  },
};

export function openApiDocument(version: string): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Undertone',
      version,
      description: `${introduction}${errorRows()}`,
      contact: { name: 'The operator of this service' },
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The service of this document.' }],
    tags: [
      { name: 'Analysis', description: 'One recording in, one report out.' },
      { name: 'Jobs', description: 'Asynchronous analysis of long recordings and of lists.' },
      { name: 'Live', description: 'Live sessions over WebSocket; see docs/streaming.md.' },
      { name: 'Account', description: 'Log-ins and tokens, for the account page.' },
      { name: 'Service', description: 'Health, models and metrics.' },
    ],
    paths: pathsOf(exampleResponses),
    webhooks: { jobEnded },
    components: {
      schemas: componentSchemas(),
      headers,
      securitySchemes: {
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'undertone.session_token',
          description: 'The session cookie of the account page. Analyses ignore it.',
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token from the account page or from `undertone token create`.',
        },
      },
    },
  };
}

function errorRows(): string {
  const codes = Object.keys(errorTable) as ErrorCode[];
  return codes
    .map((code) => `| ${errorTable[code].status} | \`${code}\` | ${errorTable[code].when} |\n`)
    .join('');
}
