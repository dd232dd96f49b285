/**
 * Writes the types of reports and messages of the clients, and builds the TypeScript client:
 *   npm run clients [typescript] [python]
 * The types of the Python client are committed: pip builds it without Node.js.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { reportSchemas, signals } from '../src/engine/schema.ts';
import { version } from '../src/node/paths.ts';
import { openApiDocument } from '../src/service/api/document.ts';
import { componentSchemas } from '../src/service/api/schemas.ts';
import { scopes } from '../src/service/auth/token-format.ts';
import { clientMessages, serverMessages } from '../src/service/live/protocol.ts';
import { clientVenv } from './client-venv.ts';
import { requireNames, runScript } from './run-script.ts';

export const clients = { typescript: 'clients/typescript', python: 'clients/python' } as const;
export const pythonTypes = join(clients.python, 'src/undertone_client/reports.py');

function buildTypeScript(): void {
  const file = join(clients.typescript, 'src/schema.ts');
  withDocument((document) => {
    const output = ['--output', file, '--default-non-nullable', 'false', '--empty-objects-unknown'];
    run('node_modules/.bin/openapi-typescript', [document, ...output]);
  });
  run('node_modules/.bin/tsc', ['-p', clients.typescript]);
}

/** @param file where the types go */
export function buildPython(file: string): void {
  const input = ['--input-file-type', 'openapi', '--openapi-scopes', 'schemas', '--formatters', 'builtin'];
  const output = ['--output-model-type', 'typing.TypedDict', '--target-python-version', '3.10'];
  const style = ['--disable-timestamp', '--use-schema-description', '--no-use-closed-typed-dict'];
  withDocument((document) => {
    // An empty object is a type of its own only with this form of the same schema.
    const text = readFileSync(document, 'utf8').replaceAll(
      '"maxProperties":0',
      '"additionalProperties":false',
    );
    writeFileSync(document, text);
    const given = ['--input', document, ...input, '--output', file, ...output, ...style];
    run(join(clientVenv(), 'datamodel-codegen'), given);
  });
}

function withDocument(work: (file: string) => void): void {
  const scratch = mkdtempSync(join(tmpdir(), 'undertone-clients-'));
  try {
    const document = join(scratch, 'openapi.json');
    writeFileSync(document, JSON.stringify(documentWithMessages()));
    work(document);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** What the clients name for every signal. */
const ofSignals = {
  Signal: z.enum(signals),
  Scope: z.enum(scopes),
  SignalReport: z.union(signals.map((signal) => reportSchemas[signal])),
};

/** The OpenAPI document, the messages of live sessions (`session.ready` as `SessionReadyMessage`), and `ofSignals`. */
function documentWithMessages(): object {
  const messages = Object.entries({
    ...serverMessages,
    'session.configure': clientMessages['session.configure'],
  }).map(([type, schema]) => {
    const words = type.split('.').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
    return [`${words.join('')}Message`, schema] as const;
  });
  const document = openApiDocument(version) as { readonly components: object };
  const schemas = componentSchemas({ ...Object.fromEntries(messages), ...ofSignals });
  return { ...document, components: { ...document.components, schemas } };
}

function run(tool: string, args: readonly string[]): void {
  execFileSync(tool, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}

if (process.argv[1]?.endsWith('clients.ts')) {
  await runScript(() => {
    const { positionals } = parseArgs({ allowPositionals: true });
    requireNames(Object.keys(clients), positionals);
    const isChosen = (name: keyof typeof clients) => positionals.length === 0 || positionals.includes(name);
    if (isChosen('typescript')) buildTypeScript();
    if (isChosen('python')) buildPython(pythonTypes);
  });
}
