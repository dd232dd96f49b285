/**
 * Compares what two built trees show: answers, documents, help, settings, metrics. `node --import=tsx scripts/equal.ts OTHER`
 * compares this tree with one in the folder OTHER, such as a git worktree of the commit before; both are built.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startService } from '../benchmarks/service.ts';
import { ExpectedError, requireFile, runScript } from './run-script.ts';

const paths = ['/openapi.json', '/asyncapi.json', '/v1/models', '/trust'];
const recordings = ['examples', 'test/speech', 'models/failures'];
const answerMebibytes = 256;

type Shown = Readonly<Record<string, string>>;

/** Everything that a tree shows, by name. @param dataDir holds the keys that /trust shows. @param files the recordings */
async function show(folder: string, dataDir: string, files: readonly string[]): Promise<Shown> {
  const cli = join(folder, 'dist/src/cli.js');
  const run = (...args: string[]) =>
    execFileSync(process.execPath, [cli, ...args], {
      cwd: folder,
      encoding: 'utf8',
      maxBuffer: answerMebibytes * 2 ** 20,
    });
  const help = run('--help');
  const commands = [...help.matchAll(/^ {2}([a-z]+)(?:\||\s)/gm)].map(([, name = '']) => name);
  const shown: Record<string, string> = {};
  const keep = (name: string, text: string) => {
    // The folder is in paths of recordings; ids and nonces differ from response to response.
    const withoutIds = text.replaceAll(/"request_id":"[^"]*"/g, '').replaceAll(/ nonce="[^"]*"/g, '');
    shown[name] = withoutIds.replaceAll(folder, '');
    console.error(`${folder}: ${name}`);
  };
  keep('undertone --help', help);
  for (const command of commands.filter((name) => name !== 'help'))
    keep(`undertone ${command} --help`, run(command, '--help'));
  for (const set of ['standard', 'fast'])
    for (const file of files) keep(`${set}, ${file}`, run('analyze', '--jsonl', '--models', set, file));
  keep('settings', settingsOf(folder));
  for (const [name, text] of Object.entries(await ask(folder, dataDir))) keep(name, text);
  return shown;
}

function listFiles(folder: string, pattern: RegExp): string[] {
  const names = readdirSync(folder, { recursive: true }) as string[];
  return names
    .filter((name) => pattern.test(name))
    .map((name) => join(folder, name))
    .sort();
}

function settingsOf(folder: string): string {
  const sources = listFiles(join(folder, 'dist/src'), /\.js$/).map((file) => readFileSync(file, 'utf8'));
  const names = sources.flatMap((text) => text.match(/\bUNDERTONE_[A-Z_]+/g) ?? []);
  return [...new Set(names)].sort().join('\n');
}

/** Documents, and the names of metrics, of a running service. */
async function ask(folder: string, dataDir: string): Promise<Shown> {
  const service = await startService({ UNDERTONE_DATA_DIR: dataDir }, [], folder);
  try {
    const get = async (path: string) => (await fetch(`http://127.0.0.1:${service.port}${path}`)).text();
    const metrics = (await get('/metrics')).match(/^# (HELP|TYPE) .*$/gm) ?? [];
    const documents = await Promise.all(paths.map(async (path) => [path, await get(path)] as const));
    return { '/metrics': metrics.join('\n'), ...Object.fromEntries(documents) };
  } finally {
    await service.stop();
  }
}

await runScript(async () => {
  const [other] = process.argv.slice(2);
  if (other === undefined || other.startsWith('-'))
    throw new ExpectedError(`Expected the folder of another built tree, got ${other ?? 'nothing'}`);
  const folders = [process.cwd(), resolve(other)];
  for (const folder of folders) requireFile(join(folder, 'dist/src/cli.js'), 'npm run build there');
  const files = recordings.flatMap((folder) => listFiles(folder, /\.(wav|flac)$/));
  const dataDir = mkdtempSync(join(tmpdir(), 'undertone-equal-'));
  const shown = await Promise.all(folders.map((folder) => show(folder, dataDir, files))).finally(() =>
    rmSync(dataDir, { recursive: true, force: true }),
  );
  const [own, others] = shown as [Shown, Shown];
  const names = [...new Set([...Object.keys(own), ...Object.keys(others)])];
  const different = names.filter((name) => own[name] !== others[name]);
  console.log(`${names.length - different.length} of ${names.length} equal`);
  for (const name of different) console.log(`different: ${name}`);
  if (different.length > 0) process.exitCode = 1;
});
