/** Schemathesis: valid and invalid requests made from the document. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, root } from '../../../benchmarks/case.ts';
import { makeVenv } from '../../../benchmarks/python.ts';
import type { Server } from '../support/service.ts';
import { createAccountClient, operationOf, password } from './visitor.ts';

const schemathesis = 'schemathesis==4.32.0';
const hooks = join(root, 'test', 'reliability', 'contract', 'own_keys.py');

export type Attack = {
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
