/** Type checks of programs that use the clients, by what their users have: mypy, pyright and tsc. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installNpm } from '../../benchmarks/packages.ts';
import { clientVenv } from '../../scripts/client-venv.ts';
import { clients } from '../../scripts/clients.ts';
import { documents, examples } from './documents.ts';
import { makeFolder } from './folder.ts';

const pyright = 'pyright@1.1.414';
const python = resolve(clients.python, 'src');

/** Blocks that are part of a program have a client. */
const fragments = {
  py: 'from undertone_client import Client\n\nclient = Client("http://127.0.0.1:8080", "token")\n',
  typescript:
    "import { createClient } from 'undertone-client';\nconst client = createClient({ url: 'http://127.0.0.1:8080' });\n",
} as const;

/** Each block of the documents as a program. */
function programs(language: 'python' | 'ts', fragment: keyof typeof fragments): string[] {
  return documents.flatMap((document) => [
    ...examples(document, language),
    ...examples(document, fragment).map((block) => fragments[fragment] + block),
  ]);
}

export const pythonPrograms = () => programs('python', 'py');
export const typeScriptPrograms = () => programs('ts', 'typescript');

/** Writes the programs to a folder. @returns it, and their files */
function write(sources: readonly string[], extension: string): { folder: string; files: string[] } {
  const folder = makeFolder();
  const files = sources.map((source, index) => {
    const file = join(folder, `program_${index}.${extension}`);
    writeFileSync(file, source);
    return file;
  });
  return { folder, files };
}

function run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): string[] {
  const { PATH, HOME } = process.env;
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { PATH, HOME, ...env },
  });
  const errors = stdout.split('\n').filter((line) => /\berror\b.*[:(]/.test(line));
  if ((status === 0) !== (errors.length === 0))
    throw new Error(`Expected errors or success, got ${stdout}${stderr}`);
  return errors;
}

/** One line per error of `mypy --strict`. */
export function mypyErrors(sources: readonly string[]): string[] {
  const { files } = write(sources, 'py');
  const config = join(clients.python, 'pyproject.toml');
  return run(
    join(clientVenv(), 'mypy'),
    ['--strict', '--config-file', config, '--no-error-summary', ...files],
    {
      MYPYPATH: python,
    },
  );
}

/** One line per error of pyright. */
export function pyrightErrors(sources: readonly string[]): string[] {
  const { folder } = write(sources, 'py');
  writeFileSync(join(folder, 'pyrightconfig.json'), JSON.stringify({ extraPaths: [python] }));
  const program = join(installNpm(pyright), 'node_modules', '.bin', 'pyright');
  return run(program, ['--project', folder, '--pythonpath', resolve(clientVenv(), 'python')]).filter(
    (line) => !/^\d+ errors?,/.test(line),
  );
}

/** One line per error of tsc with the strictest options of the project. */
export function tscErrors(
  sources: readonly string[],
  paths: Readonly<Record<string, string>> = {
    'undertone-client': `${clients.typescript}/dist/index.d.ts`,
    'undertone-client/webhook': `${clients.typescript}/dist/webhook.d.ts`,
  },
): string[] {
  const { folder, files } = write(sources, 'mts');
  const all = { undertone: 'src/tools/index.ts', ws: 'node_modules/@types/ws', ...paths };
  const config = join(folder, 'tsconfig.json');
  const options = {
    noEmit: true,
    incremental: false,
    rootDir: '/',
    lib: ['es2023', 'dom', 'dom.iterable', 'dom.asynciterable'],
    typeRoots: [resolve('node_modules/@types')],
    types: ['node'],
    paths: Object.fromEntries(Object.entries(all).map(([name, path]) => [name, [resolve(path)]])),
  };
  const content = { extends: resolve('tsconfig.json'), compilerOptions: options, include: [], files };
  writeFileSync(config, JSON.stringify(content));
  return run('node_modules/.bin/tsc', ['-p', config]);
}
