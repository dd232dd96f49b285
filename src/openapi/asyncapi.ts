/** The AsyncAPI 3 document of live sessions, built from the schemas of their messages. */
import { z } from 'zod';
import { serverMessages } from '../stream/messages.ts';
import { clientMessages, streamPath, subprotocol } from '../stream/protocol.ts';

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
