/** The published document: clean in two linters, exercised status by status, and attacked by Schemathesis. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { openApiDocument } from '../../../src/openapi/document.ts';
import { version } from '../../../src/runtime/version.ts';
import { createContract, type Document } from '../../support/contract.ts';
import { atLeast, caught, exactly, type Options, type Row } from '../case.ts';
import { lint } from '../contract/linters.ts';
import { type Attack, attack } from '../contract/schemathesis.ts';
import { askEverything } from '../contract/statuses.ts';
import { withRedis } from '../redis.ts';
import { buildService, type Server, withServer } from '../service.ts';

const longCases = 10_000;
const shortCases = 300;
/** Requests that the document makes in its first phase come on top. */
const perOperation = { long: 1300, short: 10 };
/** Requests by the hundred would fill the log, and jobs the queue; each part that can be configured is. */
const quiet = {
  UNDERTONE_LOG_LEVEL: 'warn',
  UNDERTONE_SIGNUP: 'open',
  UNDERTONE_DEADLINE_S: '300',
  UNDERTONE_QUEUE: '200',
  UNDERTONE_JOB_QUEUE: '1000000',
  UNDERTONE_JOB_URL_PREFIXES: 'https://recordings.example/',
};

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  buildService();
  const document = openApiDocument(version) as Document;
  const many = count ?? (long ? perOperation.long : perOperation.short);
  return [
    lintRow(document),
    caught('an operation without answers, and two of one name', [lintRow(withoutAnswers(document))]),
    ...(await exercise(document)),
    ...(await withRedis(({ url }) =>
      withServer({ ...quiet, UNDERTONE_REDIS_URL: url }, async (server) => [
        ...(await attackRows(server, {
          document: `${server.url}/openapi.json`,
          perOperation: many,
          seed,
          // Sequences of requests take as many steps each: the short form has them.
          phases: long ? 'coverage,fuzzing' : 'coverage,fuzzing,stateful',
          least: count === null ? (long ? longCases : shortCases) : 1,
        })),
        await plantedRow(server, document, seed),
      ]),
    )),
  ];
}

function lintRow(document: object): Row {
  const found = lint(document);
  return exactly(0, {
    name: 'errors and warnings of Spectral and Redocly',
    unit: '',
    value: found.length,
    note: found.map(({ linter, rule, where }) => `${linter} ${rule} at ${where}`).join(', '),
  });
}

function withoutAnswers(document: Document): object {
  const { '/health': health, ...paths } = document.paths;
  const { responses: _, ...bare } = health?.get ?? { responses: {} };
  return { ...document, paths: { ...paths, '/health': { get: { ...bare, operationId: 'ready' } } } };
}

/** Every documented status must be seen, and every answer must be as documented. */
async function exercise(document: Document): Promise<Row[]> {
  const contract = createContract(document);
  const seen = new Set<string>();
  const faults = new Set<string>();
  let asked = 0;
  await askEverything([...contract.documented.keys()], (operation, status, body) => {
    asked++;
    seen.add(`${operation} ${status}`);
    const fault = contract.fault(operation, status, body);
    if (fault !== null) faults.add(fault);
  });
  const documented = [...contract.documented].flatMap(([operation, statuses]) =>
    statuses.map((status) => `${operation} ${status}`),
  );
  const unseen = documented.filter((pair) => !seen.has(pair));
  return [
    exactly(0, {
      name: 'documented statuses that no request got',
      unit: `of ${documented.length}`,
      value: unseen.length,
      note: unseen.join(', '),
    }),
    exactly(0, {
      name: 'answers to them that differ from the document',
      unit: `of ${asked}`,
      value: faults.size,
      note: [...faults].join('; ').slice(0, 500),
    }),
  ];
}

async function attackRows(server: Server, { least, ...how }: Attack & { least: number }): Promise<Row[]> {
  const { cases, failures, words } = await attack(server, how);
  return [
    atLeast(least, { name: 'requests that Schemathesis made', unit: '', value: cases }),
    exactly(0, {
      name: 'failures that it found',
      unit: '',
      value: failures,
      note: [...new Set(words.match(/^- \S+ .*$/gm))].join('; '),
    }),
  ];
}

/** The document promises a field that errors do not have; no job has an id that is made up, so all that is asked is one. */
async function plantedRow(server: Server, document: Document, seed: number): Promise<Row> {
  const { Failure, ...schemas } = document.components.schemas;
  const required = [...((Failure?.required as string[] | undefined) ?? []), 'reason'];
  const components = { ...document.components, schemas: { ...schemas, Failure: { ...Failure, required } } };
  const file = join(cacheFolder('contract'), 'planted.json');
  writeFileSync(file, JSON.stringify({ ...document, components }));
  const how = { document: file, perOperation: 5, seed, phases: 'fuzzing', operationId: 'showJob', least: 1 };
  return caught('a field that no error has', await attackRows(server, how));
}
