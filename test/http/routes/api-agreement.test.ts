/** The errors and retries of docs/http-api.md, of the OpenAPI document and of both clients are the same. */

import { readFileSync } from 'node:fs';
import test from 'ava';
import { pythonTypes } from '../../../scripts/clients.ts';
import { version } from '../../../src/node/paths.ts';
import { openApiDocument } from '../../../src/service/api/document.ts';
import { errorTable, retriedStatuses, validationTypes } from '../../../src/service/errors.ts';
import type { Document } from '../../support/contract.ts';

const read = (path: string) => readFileSync(path, 'utf8');
const httpApi = read('docs/http-api.md');
const openApi = JSON.stringify(openApiDocument(version));
const { schemas } = (openApiDocument(version) as Document).components;

/** `STATUS CODE` of each error of a Markdown table; a row without a status has that of the row above. */
function errorRows(markdown: string): string[] {
  let status = '';
  return [...markdown.matchAll(/^\| (\d{3})? ?\| ([^|]*) \|/gm)].flatMap(([, given, names = '']) => {
    status = given ?? status;
    return [...names.matchAll(/`([\w.]+)`/g)].map(([, name]) => `${status} ${name}`);
  });
}

/** 413 and 422 have a type in place of a code. */
const expectedRows = [
  ...Object.entries(errorTable).flatMap(([code, { status }]) =>
    status === 413 || status === 422 ? [] : [`${status} ${code}`],
  ),
  ...Object.keys(validationTypes).map((type) => `${type.endsWith('too_large') ? 413 : 422} ${type}`),
].sort();

test('docs/http-api.md lists every error with its status', (t) => {
  t.deepEqual(errorRows(httpApi).sort(), expectedRows);
});

test('the document and the types of the Python client list every code', (t) => {
  const codes = Object.keys(errorTable).filter((code) => code !== 'invalid' && code !== 'too_large');
  t.deepEqual(new Set(schemas.Failure?.properties?.code?.enum as string[]), new Set(codes));
  const text = read(pythonTypes);
  for (const name of [...codes, ...Object.keys(validationTypes)])
    t.regex(text, new RegExp(`["']${name}["']`));
});

test('documents and clients retry the same statuses', (t) => {
  const list = retriedStatuses.join(', ');
  const texts = {
    'OpenAPI document': openApi,
    'docs/http-api.md': httpApi,
    'clients/typescript/README.md': read('clients/typescript/README.md'),
    'clients/python/README.md': read('clients/python/README.md'),
  };
  for (const [name, text] of Object.entries(texts)) {
    const [, statuses] =
      text.match(/retr(?:y only|ies) ((?:5\d\d, )+5\d\d)(?:,)? and lost connections/i) ?? [];
    t.is(statuses, list, name);
  }
  t.true(read('clients/typescript/src/retry.ts').includes(`= [${list}];`));
  t.true(read('clients/python/src/undertone_client/retry.py').includes(`RETRIED = (${list})`));
});
