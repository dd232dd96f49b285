/** Runs the commands and programs that documents show. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { clientVenv } from '../../scripts/client-venv.ts';
import { clients } from '../../scripts/clients.ts';

type Env = Readonly<Record<string, string>>;

/** A program, its arguments and its environment. */
export type Invocation = readonly [command: string, args: readonly string[], env: Env];

/** @returns the exit code, and what it printed: on either stream, and on standard output */
export async function run(command: string, args: readonly string[], env: Env) {
  const { PATH, HOME } = process.env;
  const child = spawn(command, args, { env: { PATH, HOME, ...env } });
  let output = '';
  let stdout = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      if (stream === child.stdout) stdout += chunk;
    });
  }
  const [code] = await once(child, 'close');
  return { code, output, stdout };
}

/** Where the TypeScript client lies before it is installed. */
const dist = (file: string) => pathToFileURL(resolve(clients.typescript, 'dist', file)).href;

/** How a shown program runs, by the language of its code block. */
export const invocations = {
  sh: (program: string, env: Env = {}): Invocation => ['sh', ['-c', program], env],
  ts: (program: string, env: Env = {}): Invocation => {
    const here = program
      .replaceAll("'undertone-client'", `'${dist('index.js')}'`)
      .replaceAll("'undertone-client/webhook'", `'${dist('webhook.js')}'`);
    return [process.execPath, ['--input-type=module', '--eval', here], env];
  },
  python: (program: string, env: Env = {}): Invocation => [
    join(clientVenv(), 'python'),
    ['-c', program],
    { ...env, PYTHONPATH: join(clients.python, 'src') },
  ],
} as const;

/** An environment in which a refusal ends curl with a code other than 0. @param folder gets its settings */
export async function strictCurl(folder: string): Promise<Env> {
  await writeFile(join(folder, '.curlrc'), 'fail-with-body\n');
  return { CURL_HOME: folder };
}
