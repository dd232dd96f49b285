/** Operations of live sessions. */
import { json, type Operation } from './operation.ts';
import { schemaRef } from './schemas.ts';

export const streamOperations: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/stream/tokens',
    operationId: 'createStreamToken',
    tag: 'Live',
    summary: 'A token for one live session',
    description:
      'For browsers, which cannot send a Bearer token with a WebSocket: the token is the second subprotocol of GET /v1/stream, after `undertone.v1`. It opens one session within 60 s; the session may last longer.',
    security: [{ bearer: [] }],
    requestBody: {
      required: true,
      content: { 'application/json': { schema: schemaRef('StreamTokenRequest') } },
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
