/** Security headers. */
import test from 'ava';
import { startApp } from '../../support/app.ts';
import { call } from '../../support/http.ts';

test('every response, errors too, has the security headers', async (t) => {
  const app = await startApp(t);
  for (const path of ['/health', '/nothing', '/v1/models', '/openapi.json', '/metrics']) {
    const { headers } = await call(app.port, { path });
    t.like(headers, {
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'SAMEORIGIN',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
    t.regex(String(headers['content-security-policy']), /default-src '(self|none)'/, path);
    t.is(headers['x-powered-by'], undefined);
    t.is(headers.server, undefined);
  }
});
