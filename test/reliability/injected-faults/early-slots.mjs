/** An upload of a job reserves one of 100 slots at its headers; without a free slot every request is refused. */
import { subscribe } from 'node:diagnostics_channel';

const places = 100;
let held = 0;

subscribe('http.server.request.start', ({ request, response }) => {
  if (held >= places && request.url !== '/ready' && request.url !== '/metrics') {
    response.writeHead(503, { 'Retry-After': '1', 'Content-Type': 'application/json' });
    response.end('{"code":"overloaded"}');
  } else if (request.method === 'POST' && request.url === '/v1/jobs') {
    held++;
    response.once('close', () => held--);
  }
});
