/** The OpenAPI 3.1 document and the AsyncAPI 3 document, built from the validation schemas. */

import { z } from 'zod';
import { signals, titlesOf } from '../../engine/schema.ts';
import { type ErrorCode, errorTable, retriedStatuses } from '../errors.ts';
import { clientMessages, serverMessages, streamPath, subprotocol } from '../live/protocol.ts';
import { exampleResponses } from './operation.ts';
import { pathsOf } from './operations.ts';
import { callbackSamples, streamSamples } from './samples.ts';
import { componentSchemas, schemaRef } from './schemas.ts';

// The OpenAPI 3.1 document, built from the validation schemas and the table of errors.

const about = `Undertone analyses *how* a person speaks. Upload a recording, get JSON: ${titlesOf(signals)}.`;

/** Of requests and responses of all paths. */
export const rules: readonly string[] = [
  'Every response has an `X-Request-Id`. HEAD is supported like GET. Queries are ignored where a path documents none, and listed in the report of an analysis. Fields may be added within v1.',
  `Retry only ${retriedStatuses.join(', ')} and lost connections, after 1, 2, 4 s and so on, or after \`Retry-After\` where that is longer.`,
];

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
    'x-codeSamples': callbackSamples,
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
      description: `${about}\n\n${rules.join('\n')}\n\nErrors of all paths:\n\n${errorTableText()}`,
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

/** In Markdown. */
function errorTableText(): string {
  const rows = (Object.keys(errorTable) as ErrorCode[]).map(
    (code) => `| ${errorTable[code].status} | \`${code}\` | ${errorTable[code].when} |\n`,
  );
  return `| Status | Code | When |\n|---|---|---|\n${rows.join('')}`;
}

// The AsyncAPI 3 document of live sessions, built from the schemas of their messages.

const samples = {
  name: 'samples',
  title: 'samples',
  summary: 'Samples in binary frames of up to 1 MiB, cut anywhere.',
  contentType: 'application/octet-stream',
  payload: { type: 'string', format: 'binary' },
};

const bearer = { $ref: '#/components/securitySchemes/bearer' };

export function asyncApiDocument(version: string): object {
  const sent = messagesOf(clientMessages);
  const received = messagesOf(serverMessages);
  const refs = (names: readonly string[]) =>
    names.map((name) => ({ $ref: `#/channels/stream/messages/${name}` }));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Undertone live sessions',
      version,
      description: `WebSocket with the subprotocol ${subprotocol}; see docs/streaming.md.`,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    servers: {
      service: {
        host: 'localhost:8080',
        protocol: 'ws',
        description: 'The service of this document.',
        security: [bearer],
      },
    },
    channels: {
      stream: {
        address: streamPath,
        description: 'One session. The first message of the client is session.configure.',
        messages: { ...sent, samples, ...received },
        'x-codeSamples': streamSamples,
      },
    },
    operations: {
      receiveFromClient: operation(
        'receive',
        'Messages and samples of the client.',
        refs([...Object.keys(sent), 'samples']),
      ),
      sendToClient: operation('send', 'Messages of the service.', refs(Object.keys(received))),
    },
    components: {
      securitySchemes: {
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token, or a token of POST /v1/stream/tokens as the second subprotocol.',
        },
      },
    },
  };
}

function operation(action: 'send' | 'receive', summary: string, messages: readonly object[]): object {
  return { action, channel: { $ref: '#/channels/stream' }, summary, security: [bearer], messages };
}

function messagesOf(schemas: Readonly<Record<string, z.ZodType>>): Readonly<Record<string, object>> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => {
      const { $schema: _, ...payload } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7' });
      const summary = schema.description ?? name;
      return [name, { name, title: name, summary, contentType: 'application/json', payload }];
    }),
  );
}
