/** The published document: clean in two linters, right for type checkers, exercised status by status, attacked by Schemathesis. */

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, root } from '../../../benchmarks/case.ts';
import { installNpm, makeVenv } from '../../../benchmarks/packages.ts';
import { version } from '../../../src/node/paths.ts';
import { openApiDocument } from '../../../src/service/api/document.ts';
import { createContract, type Document } from '../../support/contract.ts';
import { makeFolder } from '../../support/folder.ts';
import { sharedReceiptKeys } from '../../support/receipt-keys.ts';
import { mypyErrors, pyrightErrors, pythonPrograms, tscErrors } from '../../support/type-checks.ts';
import { atLeast, exactly, negativeControl, none, type Options, type Row } from '../case.ts';
import { createAccountClient, operationOf, password } from '../support/account.ts';
import { buildService, type Server, withRedis, withServer } from '../support/service.ts';
import { exerciseStatuses } from '../support/statuses.ts';

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

// Spectral on the published document; Redocly is a test of `npm test`.

const spectral = '@stoplight/spectral-cli@6.16.0';

/** Every error and warning, one a line: LINE:COLUMN SEVERITY RULE MESSAGE. */
export function lint(document: object): readonly string[] {
  const home = installNpm(spectral);
  const program = join(home, 'node_modules', '.bin', 'spectral');
  const [file, rules] = [join(home, 'openapi.json'), join(home, 'spectral.yaml')];
  writeFileSync(file, JSON.stringify(document, null, 1));
  writeFileSync(rules, 'extends: ["spectral:oas"]\n');
  const args = ['lint', '--format=text', '--fail-severity=warn', `--ruleset=${rules}`, file];
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  const found = stdout.split('\n').filter((line) => / (error|warning) /.test(line));
  if ((status === 0) !== (found.length === 0))
    throw new Error(`Expected findings of Spectral or success, got ${stdout}${stderr}`);
  return found;
}

// Types that the generators of others make from the document, used as the documents of Undertone do.

const generator = '@hey-api/openapi-ts@0.95.0';

/** Looks at the status before it reads scores. */
const careful = `import type { CognitiveReport, EmbeddingReport, Report } from 'generated';
export function read(report: Report, cognitive: CognitiveReport, { status, embedding }: EmbeddingReport): number {
  const { emotion } = report;
  if (emotion.status === 'not_available') return emotion.reason.length;
  if (emotion.status === 'ok') return (emotion.signals.valence ?? 0) + (emotion.signals.intervals.valence?.[0] ?? 0);
  if (cognitive.status === 'ok') return cognitive.signals.clarity;
  return status === 'ok' ? embedding.length : 0;
}
`;

const careless = `import type { Report } from 'generated';
export const read = ({ emotion }: Report): number => emotion.signals.valence;
`;

/** One line per error of a program that imports the types of `document` from 'generated'. */
function foreignClientErrors(document: object, program: string): readonly string[] {
  const folder = makeFolder();
  const input = join(folder, 'openapi.json');
  writeFileSync(input, JSON.stringify(document));
  const command = join(installNpm(generator, 'typescript@5.9.3'), 'node_modules', '.bin', 'openapi-ts');
  const args = ['--input', input, '--output', join(folder, 'out'), '--plugins', '@hey-api/typescript'];
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`Expected types of ${generator}, got ${stdout}${stderr}`);
  return tscErrors([program], { generated: join(folder, 'out', 'types.gen.ts') });
}

// Schemathesis: valid and invalid requests made from the document.

const schemathesis = 'schemathesis==4.32.0';
const hooks = join(root, 'test', 'reliability', 'support', 'own_keys.py');

type Attack = {
  /** A file or an address. */
  readonly document: string;
  readonly perOperation: number;
  readonly seed: number;
  readonly phases: string;
  /** Only this operation. */
  readonly operationId?: string;
};

type Outcome = {
  readonly cases: number | null;
  readonly failures: number | null;
  readonly words: string;
};

export async function attack(server: Server, attack: Attack): Promise<Outcome> {
  const folder = cacheFolder('contract');
  const config = join(folder, `schemathesis-${server.port}.toml`);
  const report = join(folder, `schemathesis-${server.port}.json`);
  writeFileSync(config, await configure(server));
  const args = [
    ...['--config-file', config, 'run', attack.document, '--url', server.url, '--no-color'],
    ...['--max-examples', String(attack.perOperation), '--seed', String(attack.seed)],
    ...['--phases', attack.phases, '--continue-on-failure', '--suppress-health-check', 'all'],
    ...['--report', 'json', '--report-json-path', report],
    ...(attack.operationId === undefined ? [] : ['--include-operation-id', attack.operationId]),
  ];
  const program = join(makeVenv('schemathesis', [schemathesis]), 'st');
  const child = spawn(program, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  let words = '';
  child.stdout.on('data', (chunk) => {
    words += chunk;
    process.stderr.write(chunk);
  });
  await once(child, 'close');
  return { ...summary(words), words };
}

/** Its last lines: `Test cases:` and `N generated, N passed` or `N generated, N found M unique failures`. */
function summary(words: string): Pick<Outcome, 'cases' | 'failures'> {
  const [, cases, failed] = /(\d+) generated, (?:(\d+) found|\d+ passed|.*)/.exec(words) ?? [];
  const finished = cases !== undefined && !/\d+ errors?\b/.test(words);
  return { cases: finished ? Number(cases) : null, failures: finished ? Number(failed ?? 0) : null };
}

/** A token, a session and an Origin header: without them every request is refused. */
async function configure(server: Server): Promise<string> {
  let session = '';
  const accountClient = createAccountClient(server, () => {});
  await accountClient.ask(operationOf('POST', 'sign-up'), { email: 'eve@home.example', password });
  session = accountClient.cookie().split('undertone.session_token=')[1] ?? '';
  return `hooks = ${JSON.stringify(hooks)}
headers = { Origin = "${server.url}" }

[auth.openapi.bearer]
bearer = "${server.token}"

[auth.openapi.session]
api_key = "${session}"

# A list over its bound is also a body over its bound, which is refused first: 413.
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "408", "409", "413", "415", "422", "428", "429", "431", "5xx"]

# What is no recording, an address that has an account or that is not to be called, and a name that is in use:
# JSON Schema cannot say it, 422 does.
[[operations]]
include-operation-id = ["analyze", "analyzeEmotion", "analyzeCognitive", "embed", "beginJob", "signUp", "createToken"]
checks.positive_data_acceptance.enabled = false
`;
}
