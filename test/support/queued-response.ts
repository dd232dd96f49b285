/** A connection that ends before a response could be sent on it. Exits by itself when no timer is left. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { createHttpServer } from '../../src/service/http/server.ts';

let onSecond = () => {};
const second = new Promise<void>((resolve) => {
  onSecond = resolve;
});
const server = createHttpServer(
  async (request, response) => {
    // The second response waits for the first, which is never sent.
    if (request.url === '/first') await once(response, 'close');
    else {
      response.end('second');
      setImmediate(onSecond);
    }
  },
  { seconds: 600 },
);
const url = await server.listen({ host: '127.0.0.1', port: 0 });
const client = connect(Number(new URL(url).port), '127.0.0.1');
const head = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`;
client.write(head('/first') + head('/second'));
await second;
client.destroy();
server.destroy();
