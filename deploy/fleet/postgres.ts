/** A PostgreSQL server in a temporary folder, reached by a socket in it and stopped with the process. */
import { execFileSync } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { ExpectedError } from '../../scripts/run-script.ts';

export type Postgres = {
  /** An empty database. */
  makeUrl(): Promise<string>;
  stop(): void;
  start(): void;
};

/** Debian keeps each version in a folder of its own. */
const versions = '/usr/lib/postgresql';
let server: Postgres | null = null;

/** The same one for every test of a file. */
export function postgres(): Postgres {
  server ??= startServer();
  return server;
}

/** `listen`: an address in place of the socket, which all hosts that share its first three numbers reach. */
export function startServer(listen: string | null = null): Postgres {
  const newest = readdirSync(versions).sort((a, b) => Number(b) - Number(a))[0];
  if (newest === undefined) throw new ExpectedError(`Expected PostgreSQL in ${versions}, got none`);
  const folder = mkdtempSync(join(tmpdir(), 'undertone-postgres-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  for (const path of [folder, data]) giveToPostgres(path);
  const run = (program: string, ...args: string[]) =>
    asPostgres(join(versions, newest, 'bin', program), '-D', data, ...args);
  run('initdb', '--auth=trust', '--no-sync', '--username=postgres');
  if (listen !== null) appendFileSync(join(data, 'pg_hba.conf'), `host all all ${listen}/24 trust\n`);
  const settings = `-k ${folder} -c listen_addresses=${listen ?? ''} -c fsync=off -c max_connections=300`;
  const start = () => run('pg_ctl', '-w', '-t', '600', '-l', join(folder, 'log'), '-o', settings, 'start');
  const stop = () => run('pg_ctl', '-w', '-t', '600', '-m', 'immediate', 'stop');
  start();
  process.prependOnceListener('exit', stop);
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const socket = `?host=${encodeURIComponent(folder)}`;
  const urlOf = (name: string) =>
    `postgres://postgres@${listen ?? 'localhost'}/${name}${listen === null ? socket : ''}`;
  let made = 0;
  async function makeUrl(): Promise<string> {
    const name = `undertone_${made++}`;
    const client = new pg.Client(urlOf('postgres'));
    await client.connect();
    await client.query(`create database ${name}`);
    await client.end();
    return urlOf(name);
  }
  return { makeUrl, start, stop };
}

/** PostgreSQL does not run as root. */
function asPostgres(...command: readonly [string, ...string[]]): void {
  const [file, ...args] =
    process.getuid?.() === 0 ? ['runuser', '-u', 'postgres', '--', ...command] : command;
  execFileSync(file as string, args, { stdio: 'ignore', cwd: '/' });
}

function giveToPostgres(path: string): void {
  if (process.getuid?.() !== 0) return;
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  chownSync(path, id('-u'), id('-g'));
}
