/** The header X-Fault causes an internal error. */
import { subscribe } from 'node:diagnostics_channel';

subscribe('http.server.request.start', ({ request: { headers } }) => {
  if (headers['x-fault'] === undefined) return;
  Object.defineProperty(headers, 'host', {
    get() {
      throw new Error('a fault that was put in');
    },
  });
});
