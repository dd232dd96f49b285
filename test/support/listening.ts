/** A small HTTP server on a free port, gone with the test. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';

/** @returns the port */
export async function listen(
  t: Pick<ExecutionContext, 'teardown'>,
  handle: RequestListener,
  host = '127.0.0.1',
): Promise<number> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
