/** A Redis server of the tests' own, on a socket in a temporary folder, without persistence; gone with the process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { openRedis } from '../../src/service/redis.ts';
import { makeFolder } from './folder.ts';
import { until } from './wait.ts';

export type RedisServer = {
  /** The path of its socket. */
  readonly url: string;
  readonly client: Redis;
  /** Everything it holds, keys and values of every type. */
  dump(): Promise<Buffer>;
  start(): Promise<void>;
  /** At once, and all that it held is gone. */
  kill(): Promise<void>;
  /** Connections are taken, and nothing is answered. */
  hang(): void;
  goOn(): void;
};

const running = new Set<ChildProcess>();
// Before the listener that deletes folders.
process.prependOnceListener('exit', () => {
  for (const server of running) server.kill('SIGKILL');
});

export async function startRedis(
  settings: readonly string[] = ['--save', '', '--appendonly', 'no'],
): Promise<RedisServer> {
  const folder = makeFolder();
  const url = join(folder, 'redis.sock');
  let server: ChildProcess | null = null;
  async function start(): Promise<void> {
    const place = ['--port', '0', '--unixsocket', url, '--dir', folder, '--daemonize', 'no'];
    const started = spawn('redis-server', [...place, ...settings], { stdio: 'ignore' });
    server = started;
    running.add(started);
    started.once('exit', () => running.delete(started));
    await until(() => answers(url));
  }
  await start();
  const client = new Redis(url, { maxRetriesPerRequest: null });
  client.on('error', () => {});
  return {
    url,
    client,
    start,
    hang: () => server?.kill('SIGSTOP'),
    goOn: () => server?.kill('SIGCONT'),
    dump: () => dump(client),
    async kill() {
      const gone = server;
      gone?.kill('SIGKILL');
      if (gone !== null && gone.exitCode === null && gone.signalCode === null) await once(gone, 'exit');
    },
  };
}

/** A server that ends with the test. */
export async function useRedis(
  t: { teardown(clean: () => unknown): void },
  settings?: readonly string[],
): Promise<RedisServer> {
  const redis = await startRedis(settings);
  t.teardown(() => {
    redis.client.disconnect();
    return redis.kill();
  });
  return redis;
}

/** A connection of the service's kind, however long it takes on a busy machine. */
export async function connectRedis(t: { teardown(clean: () => unknown): void }, url: string): Promise<Redis> {
  const connection = openRedis(url);
  t.teardown(() => connection.disconnect());
  await until(() => connection.status === 'ready');
  return connection;
}

async function answers(url: string): Promise<boolean> {
  const probe = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  probe.on('error', () => {});
  const answer = await probe.connect().then(
    () => probe.ping(),
    () => null,
  );
  probe.disconnect();
  return answer !== null;
}

/** As Redis serialises each value itself, without compression: short texts stay readable in it. */
async function dump(client: Redis): Promise<Buffer> {
  await client.config('SET', 'rdbcompression', 'no');
  const keys = await client.keys('*');
  const values = await Promise.all(keys.map((key) => client.dumpBuffer(key)));
  return Buffer.concat([Buffer.from(keys.join('\n')), ...values.filter((value) => value !== null)]);
}
