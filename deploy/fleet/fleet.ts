/** Three hosts behind HAProxy with one PostgreSQL and one Redis, on this machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installPackages } from '../../benchmarks/packages.ts';
import { addKey } from '../../src/service/receipt-keys.ts';
import { createHost, type Host } from './host.ts';
import { gateway, makeNetwork } from './network.ts';
import { type Postgres, startServer } from './postgres.ts';

export type Fleet = {
  /** Of the load balancer. */
  readonly url: string;
  readonly hosts: readonly Host[];
  /** What commands on any host are given. */
  readonly settings: Readonly<Record<string, string>>;
  readonly postgres: Postgres;
  readonly redis: Daemon;
  stop(): Promise<void>;
};

type Daemon = { start(): Promise<void>; stop(): Promise<void> };

const names = ['first', 'second', 'third'];
const configuration = fileURLToPath(new URL('../haproxy/haproxy.cfg', import.meta.url));
const balancerPort = 8080;
const redisPort = 6379;
const lockFile = '/run/lock/undertone-fleet';

const packages = ['haproxy', 'redis-server', 'iproute2', 'postgresql'];

/** Resolves when the load balancer answers. `env`: more settings for every host. */
export async function startFleet(env: Readonly<Record<string, string>> = {}): Promise<Fleet> {
  installPackages(packages);
  // All processes end with this one, however it ends.
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => process.exit(1));
  const release = await waitForTurn();
  const network = makeNetwork(names);
  process.once('exit', network.remove);
  const redis = createDaemon(
    'redis-server',
    ['--bind', gateway, '--port', String(redisPort), ...inMemory],
    redisPort,
  );
  const balancer = createDaemon('haproxy', ['-db', '-f', configuration], balancerPort, {
    UNDERTONE_BIND: `${gateway}:${balancerPort}`,
  });
  const postgres = startServer(gateway);
  await redis.start();
  const settings = {
    UNDERTONE_DATABASE_URL: await postgres.makeUrl(),
    UNDERTONE_REDIS_URL: `redis://${gateway}:${redisPort}`,
    UNDERTONE_SECRET: randomBytes(32).toString('hex'),
    UNDERTONE_RECEIPT_KEYS: await createReceiptKeys(),
    UNDERTONE_WORKERS: '1',
    ...env,
  };
  const hosts = network.namespaces.map((namespace) => createHost(namespace, settings));
  for (const host of hosts) await host.start();
  await balancer.start();
  const stop = async () => {
    await balancer.stop();
    await Promise.all(hosts.map((host) => host.stop()));
    await redis.stop();
    network.remove();
    // From here on the names may be another process's.
    process.off('exit', network.remove);
    release();
  };
  return { url: `http://${gateway}:${balancerPort}`, hosts, settings, postgres, redis, stop };
}

/** The file that the hosts share. */
async function createReceiptKeys(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-keys-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'receipt-keys.json');
  await addKey(path, new Date());
  return path;
}

/**
 * One fleet at a time on a machine: its names and addresses are those of deploy/haproxy/haproxy.cfg. Resolves once no
 * other process has a fleet. The lock ends with this process at the latest, when the standard input of its holder closes.
 */
async function waitForTurn(): Promise<() => void> {
  const holder = spawn('flock', [lockFile, 'sh', '-c', 'echo locked; exec cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  });
  const ended = once(holder, 'close').then(([code]) => {
    throw new Error(`Expected flock to lock ${lockFile}, got exit code ${code}`);
  });
  await Promise.race([once(holder.stdout, 'data'), ended]);
  holder.stdout.resume();
  return () => holder.stdin.end();
}

/** What waits in Redis is never written to disk. */
const inMemory = [
  '--save',
  '',
  '--appendonly',
  'no',
  '--maxmemory-policy',
  'noeviction',
  '--protected-mode',
  'no',
];

/** A program that runs outside the hosts, on the machine's own address. */
function createDaemon(
  program: string,
  args: readonly string[],
  port: number,
  env: Readonly<Record<string, string>> = {},
): Daemon {
  let child: ChildProcess | null = null;
  process.once('exit', () => child?.kill('SIGKILL'));
  return {
    start: async () => {
      child = spawn(program, args, { env: { PATH: process.env.PATH, ...env }, stdio: 'ignore', cwd: '/' });
      while (!(await accepts(port))) {
        if (child.exitCode !== null)
          throw new Error(`Expected ${program} to start, got exit code ${child.exitCode}`);
      }
    },
    stop: async () => {
      if (child === null || child.exitCode !== null) return;
      const ended = once(child, 'close');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: gateway, port, timeout: 500 });
    const end = (answer: boolean) => {
      socket.destroy();
      setTimeout(() => resolve(answer), answer ? 0 : 50);
    };
    socket.once('connect', () => end(true));
    socket.once('error', () => end(false));
  });
}
