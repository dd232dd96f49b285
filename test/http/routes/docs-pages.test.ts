import { readdirSync } from 'node:fs';
import { posix } from 'node:path';
import test from 'ava';
import { startApp } from '../../support/app.ts';
import { call } from '../../support/http.ts';
import { startServer } from '../../support/server.ts';

const files = readdirSync('docs', { recursive: true, encoding: 'utf8' });
const names = files.filter((name) => name.endsWith('.md'));

test('every page is served as Markdown, and every link of a page and of llms.txt leads to a page', async (t) => {
  const { port } = await startApp(t);
  const get = async (path: string) => {
    const { status, headers, body } = await call(port, { path });
    return { status, type: headers['content-type'], body };
  };
  const index = await get('/llms.txt');
  t.is(index.type, 'text/plain; charset=utf-8');
  t.regex(index.body, /^# Undertone\n\n> /);
  const listed = [...index.body.matchAll(/^- \[(.+)\]\((.+)\): (.+)$/gm)];
  t.deepEqual(listed.flatMap(([, , path = '']) => path.match(/(?<=^\/docs\/).*/) ?? []).sort(), names.sort());
  for (const [line, , path = '', about = ''] of listed) {
    t.is((await get(path)).status, 200, path);
    t.true(about.length > 15, line);
  }
  for (const name of names) {
    const page = await get(`/docs/${name}`);
    t.deepEqual([page.status, page.type], [200, 'text/markdown; charset=utf-8'], name);
    t.regex(page.body, /^# /);
    for (const [, target = ''] of page.body.matchAll(/\]\(((?!https?:|#)[^)#]*)/g)) {
      t.true(names.includes(posix.join(posix.dirname(name), target)), `${name}: ${target}`);
    }
  }
  t.is((await get('/docs/none.md')).status, 404);
});

test('the bundle serves them too', async (t) => {
  const { port } = await startServer(t);
  for (const path of ['/llms.txt', ...names.map((name) => `/docs/${name}`)]) {
    t.is((await call(port, { path })).status, 200, path);
  }
});
