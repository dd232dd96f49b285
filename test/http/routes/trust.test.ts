import test from 'ava';
import { call } from '../../support/http.ts';
import { startServer } from '../../support/server.ts';

test('the trust page has the keys of the service; its recordings are immutable', async (t) => {
  const { port } = await startServer(t);
  const page = await call(port, { path: '/trust' });
  t.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
  t.regex(String(page.headers['content-security-policy']), /^default-src 'none'/);
  t.notRegex(page.body, /<!-- content -->|CSP_NONCE/);
  const { keys } = JSON.parse((await call(port, { path: '/.well-known/undertone-keys.json' })).body);
  t.true(page.body.includes(keys[0].x));
  const [, path = ''] = /data-recording href="([^"]+)"/.exec(page.body) ?? [];
  const recording = await call(port, { path });
  t.deepEqual([recording.status, recording.headers['content-type']], [200, 'audio/flac']);
  t.is(recording.headers['cache-control'], 'public, max-age=31536000, immutable');
  t.is((await call(port, { path: '/trust/other.flac' })).status, 404);
  t.is((await call(port, { path: '/trust/..%2findex.json' })).status, 404);
});
