/** The published document: clean in two linters, right for type checkers, exercised status by status, attacked by Schemathesis. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { version } from '../../../src/node/paths.ts';
import { openApiDocument } from '../../../src/service/api/document.ts';
import { createContract, type Document } from '../../support/contract.ts';
import { sharedReceiptKeys } from '../../support/receipt-keys.ts';
import { mypyErrors, pyrightErrors, pythonPrograms } from '../../support/type-checks.ts';
import { atLeast, exactly, negativeControl, none, type Options, type Row } from '../case.ts';
import { careful, careless, foreignClientErrors } from '../contract/foreign-client.ts';
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
    ...typeRows(document),
    ...(await exercise(document)),
    ...(await withRedis(async ({ url }) =>
      withServer({ ...quiet, ...(await sharedReceiptKeys()), UNDERTONE_REDIS_URL: url }, async (server) => [
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

/** The programs of the documents, and one with the types of a generator that is not the project's. */
function typeRows(document: Document): Row[] {
  const python = pythonPrograms();
  const generated = (program: string) =>
    none('type errors of a program with generated types', foreignClientErrors(document, program), 1);
  return [
    none('errors of mypy in the Python programs of the documents', mypyErrors(python), python.length),
    none('errors of pyright in the same', pyrightErrors(python), python.length),
    generated(careful),
    negativeControl('scores without a look at the status', [generated(careless)]),
  ];
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
