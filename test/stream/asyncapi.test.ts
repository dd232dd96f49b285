/** The AsyncAPI document of live sessions. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import { asyncApiDocument } from '../../src/service/api/document.ts';
import { makeFolder } from '../support/folder.ts';

const document = asyncApiDocument('1.0.0');

function lint(content: object) {
  const folder = makeFolder();
  writeFileSync(join(folder, 'asyncapi.json'), JSON.stringify(content));
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const args = ['lint', '--extends=recommended', 'asyncapi.json'];
  return spawnSync(resolve('node_modules/.bin/redocly'), args, { cwd: folder, env, encoding: 'utf8' });
}

test('the linter finds no error, and one in a document without a channel of an operation', (t) => {
  const { status, stdout, stderr } = lint(document);
  t.is(status, 0, stdout + stderr);
  t.not(lint({ ...document, channels: {} }).status, 0);
});

test('every field of a message is described', (t) => {
  const text = JSON.stringify(document);
  for (const name of ['session.configure', 'turn', 'measurement', 'final'])
    t.true(text.includes(`"${name}"`));
  const bare: string[] = [];
  const walk = (name: string, schema: Readonly<Record<string, unknown>>) => {
    for (const [field, inner] of Object.entries(schema.properties ?? {})) {
      if (inner.description === undefined && inner.const === undefined) bare.push(`${name}.${field}`);
      walk(`${name}.${field}`, inner);
    }
  };
  const { stream } = (document as { channels: { stream: { messages: Record<string, { payload: object }> } } })
    .channels;
  for (const [name, { payload }] of Object.entries(stream.messages)) walk(name, { ...payload });
  t.deepEqual(bare, []);
});
