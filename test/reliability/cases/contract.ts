/** The published document: clean in two linters, exercised status by status, and attacked by Schemathesis. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { openApiDocument } from '../../../src/openapi/document.ts';
import { version } from '../../../src/runtime/version.ts';
import { createContract, type Document } from '../../support/contract.ts';
import { atLeast, exactly, negativeControl, none, type Options, type Row } from '../case.ts';
import { lint } from '../contract/linters.ts';
import { type Attack, attack } from '../contract/schemathesis.ts';
import { exerciseStatuses } from '../contract/statuses.ts';
import { buildService, type Server, withRedis, withServer } from '../support/service.ts';

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
    negativeControl('an operation without responses, a duplicate operationId', [
      lintRow(withoutAnswers(document)),
    ]),
    ...(await exercise(document)),
    ...(await withRedis(({ url }) =>
      withServer({ ...quiet, UNDERTONE_REDIS_URL: url }, async (server) => [
        ...(await attackRows(server, {
          document: `${server.url}/openapi.json`,
          perOperation: many,
          seed,
          // Stateful phases are as long as the others: short form only.
          phases: long ? 'coverage,fuzzing' : 'coverage,fuzzing,stateful',
          least: count === null ? (long ? longCases : shortCases) : 1,
        })),
        await controlRow(server, document, seed),
      ]),
    )),
  ];
}

const lintRow = (document: object): Row => none('errors and warnings of Spectral', lint(document), 'all');

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
  await exerciseStatuses([...contract.documented.keys()], (operation, status, body) => {
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
    none('documented statuses never returned', unseen, documented.length),
    none('responses that differ from the document', [...faults], asked),
  ];
}

async function attackRows(server: Server, { least, ...how }: Attack & { least: number }): Promise<Row[]> {
  const { cases, failures, words } = await attack(server, how);
  const note = [...new Set(words.match(/^- \S+ .*$/gm))].join('; ');
  return [
    atLeast(least, 'requests sent by Schemathesis', '', cases),
    exactly(0, 'failures found by Schemathesis', '', failures, note),
  ];
}

/** A document that requires a field which errors do not have; every request for a random job id is a 404. */
async function controlRow(server: Server, document: Document, seed: number): Promise<Row> {
  const { Failure, ...schemas } = document.components.schemas;
  const required = [...((Failure?.required as string[] | undefined) ?? []), 'reason'];
  const components = { ...document.components, schemas: { ...schemas, Failure: { ...Failure, required } } };
  const file = join(cacheFolder('contract'), 'planted.json');
  writeFileSync(file, JSON.stringify({ ...document, components }));
  const how = { document: file, perOperation: 5, seed, phases: 'fuzzing', operationId: 'showJob', least: 1 };
  return negativeControl('a required field that no error has', await attackRows(server, how));
}
