/** The files of deploy/, each checked by the tool that will read it; the long form executes the Containerfile. */

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { cacheFolder, root, runProgram, succeeds } from '../../../benchmarks/case.ts';
import { installPackages, makeVenv } from '../../../benchmarks/packages.ts';
import { childrenOf } from '../../../benchmarks/process.ts';
import { closeConnections, post, token } from '../../../benchmarks/service.ts';
import { contentType, multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { makeFolder } from '../../support/folder.ts';
import { call } from '../../support/http.ts';
import { until } from '../../support/wait.ts';
import { atMost, exactly, negativeControl, none, type Options, type Row } from '../case.ts';
import { runContainer } from '../support/container.ts';
import { execute } from '../support/program.ts';
import { buildService, type Server, withServer } from '../support/service.ts';

const packages = [
  'systemd',
  'haproxy',
  'nginx-light',
  'openssl',
  'prometheus',
  'docker-compose',
  'strace',
  'debootstrap',
  'util-linux',
  'iproute2',
];
const manifests = 'deploy/kubernetes/undertone.yaml';

export async function run({ long }: Options): Promise<readonly Row[]> {
  installPackages(packages);
  buildService();
  const validator = join(makeVenv('kubernetes', ['kubernetes-validate==1.37.0']), 'kubernetes-validate');
  const valid = (file: string) => accepted('Kubernetes manifests, strict', [validator, '--strict', file]);
  const wrong = join(cacheFolder('deployment'), 'undertone.yaml');
  writeFileSync(wrong, read(manifests).replace('replicas: 3', 'replica: 3'));
  return [
    ...(await checkUnit()),
    accepted('haproxy.cfg', ['haproxy', '-c', '-f', 'deploy/haproxy/haproxy.cfg']),
    ...(await checkNginx()),
    valid(manifests),
    negativeControl('a field unknown to Kubernetes', [valid(wrong)]),
    accepted('compose.yaml', ['docker-compose', '-f', 'deploy/compose/compose.yaml', 'config', '-q']),
    accepted('Prometheus alerts, on written series', [
      'promtool',
      'test',
      'rules',
      'deploy/prometheus/alerts.test.yaml',
    ]),
    ...(await checkMetrics()),
    ...(long ? await runContainer() : []),
  ];
}

const read = (file: string) => readFileSync(join(root, file), 'utf8');

function accepted(name: string, [program = '', ...args]: readonly string[]): Row {
  return exactly(1, name, 'accepted', succeeds(program, args) ? 1 : 0);
}

async function checkUnit(): Promise<Row[]> {
  const faults = faultsOf(unit);
  const allowed = allowedCalls(read(unit));
  const outside = [...(await callsOfService())].filter((name) => !allowed.has(name));
  return [
    exactly(0, 'systemd unit: faults', 'lines', faults.length, faults.join('; ')),
    atMost(2, 'systemd unit: exposure', 'of 10', exposureOf(unit)),
    exactly(
      0,
      'system calls of the service that its filter blocks',
      'calls',
      outside.length,
      outside.join(', '),
    ),
  ];
}

/** The service exports every metric that an alert or panel queries. */
async function checkMetrics(): Promise<Row[]> {
  const shown = await withServer({ UNDERTONE_TOKEN: token }, async ({ port }) => {
    await post(port);
    closeConnections();
    return (await call(port, { path: '/metrics' })).body;
  });
  const asked = ['deploy/prometheus/alerts.yaml', 'deploy/grafana/undertone.json', manifests].flatMap(
    (file) => [...read(file).matchAll(/\b(?:undertone|nodejs|process)_[a-z0-9_]+/g)],
  );
  const names = [...new Set(asked.map(([name]) => name))];
  const unknown = names.filter((name) => !new RegExp(`^${name}(?:\\{| )`, 'm').test(shown));
  return [
    exactly(
      0,
      'metrics of alerts and panels that the service does not export',
      `of ${names.length}`,
      unknown.length,
      unknown.join(', '),
    ),
  ];
}

// The systemd unit: errors, exposure, and system calls that its filter blocks.

const unit = 'deploy/systemd/undertone.service';

const systemdAnalyze = (...args: readonly string[]) => execute('systemd-analyze', args).output;

/** Lines in which systemd complains of this unit. Paths where the service is installed need not be here. */
function faultsOf(file: string): string[] {
  const lines = systemdAnalyze('verify', '--man=no', file).split('\n');
  return lines.filter((line) => line.includes('undertone') && !/is not executable: No such file/.test(line));
}

/** From 0, locked down, to 10. */
function exposureOf(file: string): number | null {
  const found = /Overall exposure level for \S+: ([\d.]+)/.exec(
    systemdAnalyze('security', '--offline=true', file),
  );
  return found === null ? null : Number(found[1]);
}

/** System calls that SystemCallFilter allows; lines with ~ remove names. */
function allowedCalls(text: string): ReadonlySet<string> {
  const allowed = new Set<string>();
  for (const [, without, list = ''] of text.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const name of list.split(/\s+/).flatMap(callsOf)) {
      if (without === '~') allowed.delete(name);
      else allowed.add(name);
    }
  }
  return allowed;
}

function callsOf(name: string): string[] {
  if (!name.startsWith('@')) return name === '' ? [] : [name];
  const lines = runProgram('systemd-analyze', ['syscall-filter', name]).split('\n').slice(1);
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap(callsOf);
}

/** Not root, since some libraries behave differently for root. */
const nobody = 65_534;

/** System calls of the service from start over one analysis to SIGTERM. */
async function callsOfService(): Promise<ReadonlySet<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-trace-'));
  const counts = join(folder, 'calls');
  const env = {
    PATH: process.env.PATH,
    UNDERTONE_PORT: '0',
    UNDERTONE_DATA_DIR: folder,
    UNDERTONE_TOKEN: token,
    UNDERTONE_DEADLINE_S: '600',
  };
  chownSync(folder, nobody, nobody);
  const command = [
    '-u',
    'nobody',
    '-f',
    '-qq',
    '-c',
    '-o',
    counts,
    process.execPath,
    'dist/src/cli.js',
    'serve',
  ];
  const traced = spawn('strace', command, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = await once(traced.stdout, 'data');
    await post(Number(/:(\d+)\n/.exec(String(line))?.[1]));
    const [served] = childrenOf(traced.pid as number);
    process.kill(served as number, 'SIGTERM');
    await once(traced, 'close');
    const rows = readFileSync(counts, 'utf8').matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +\d+ +(?:\d+ +)?(\w+)$/gm);
    return new Set([...rows].map(([, name = '']) => name).filter((name) => name !== 'total'));
  } finally {
    closeConnections();
    traced.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}

// The real nginx with deploy/nginx/undertone.conf in front of the service: large bodies, pages, upgrades, a prefix for programs.

const host = 'voice.example';
const settings = { UNDERTONE_PUBLIC_URL: `https://${host}`, UNDERTONE_TRUST_PROXY: '1' };
/** More than the 1 MB of nginx's default, and than its buffers. */
const largeBytes = 8 * 2 ** 20;
const prefix = `location /voice/ {
    proxy_pass http://127.0.0.1:8080/;
    proxy_set_header Host $host;
  }
  location /`;

type Ask = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Record<string, string>;
  readonly body?: Buffer;
};
type Proxy = {
  readonly port: number;
  ask(one: Ask): Promise<{ readonly status: number; readonly hsts: boolean }>;
};

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { readonly port: number };
  await new Promise((closed) => server.close(closed));
  return port;
}

/** @param edit changes the text of the file */
async function withNginx<Result>(
  service: Server,
  edit: (text: string) => string,
  work: (proxy: Proxy) => Promise<Result>,
): Promise<Result> {
  const [folder, port] = [makeFolder(), await freePort()];
  const [certificate, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const subject = ['-subj', `/CN=${host}`, '-keyout', key, '-out', certificate];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', ...subject], { stdio: 'pipe' });
  const text = edit(readFileSync(join(root, 'deploy/nginx/undertone.conf'), 'utf8'))
    .replaceAll('127.0.0.1:8080', `127.0.0.1:${service.port}`)
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
    .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder, name)};`,
  );
  const main = `daemon off; pid ${join(folder, 'pid')}; error_log stderr; events {}
http { access_log off; ${temporary.join(' ')}\n${text}}`;
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, main);
  const nginx = spawn('nginx', ['-c', file, '-p', folder], { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(nginx, 'exit');
  const proxy: Proxy = { port, ask: (one) => ask(port, one) };
  try {
    await until(async () => (await proxy.ask({ path: '/health' }).catch(() => null))?.status === 200);
    return await work(proxy);
  } finally {
    nginx.kill('SIGQUIT');
    await ended;
  }
}

function ask(port: number, { method = 'GET', path, headers = {}, body }: Ask) {
  return new Promise<{ readonly status: number; readonly hsts: boolean }>((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      method,
      path,
      rejectUnauthorized: false,
      agent: false,
    } as const;
    const sent = request({ ...options, headers: { Host: host, ...headers } }, (response) => {
      const { statusCode: status = 0, headers: received } = response;
      response.on('end', () => resolve({ status, hsts: 'strict-transport-security' in received }));
      response.on('error', reject).resume();
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** @returns whether the handshake succeeded */
async function opens({ port }: Proxy, token: string): Promise<boolean> {
  const socket = new WebSocket(`wss://127.0.0.1:${port}/v1/stream`, ['undertone.v1'], {
    rejectUnauthorized: false,
    headers: { Host: host, Authorization: `Bearer ${token}` },
  });
  const opened = await new Promise<boolean>((resolve) => {
    socket.on('open', () => resolve(true)).on('error', () => resolve(false));
  });
  socket.terminate();
  return opened;
}

const rowsBehindNginx = (edit: (text: string) => string) =>
  withServer(settings, (service) =>
    withNginx(service, edit, async (proxy) => {
      const body = multipart([
        { name: 'audio', bytes: toneFile(1) },
        { name: 'padding', bytes: Buffer.alloc(largeBytes) },
      ]);
      const upload = (path: string) =>
        proxy.ask({
          method: 'POST',
          path,
          headers: { Authorization: `Bearer ${service.token}`, 'Content-Type': contentType },
          body,
        });
      const page = await proxy.ask({ path: '/account' });
      const checks = {
        'a large upload': (await upload('/v1/analyze')).status === 200,
        'a page with HSTS': page.status === 200 && page.hsts,
        'a live session': await opens(proxy, service.token),
        'an upload under a prefix': (await upload('/voice/v1/analyze')).status === 200,
      };
      return Object.entries(checks).flatMap(([name, works]) => (works ? [] : [name]));
    }),
  );

async function checkNginx(): Promise<Row[]> {
  const check = async (edit: (text: string) => string) =>
    none('nginx.conf: requests that fail behind nginx', await rowsBehindNginx(edit), 4);
  const withPrefix = (text: string) => text.replace('location /', prefix);
  const limited = (text: string) => withPrefix(text).replace('client_max_body_size 0;', '');
  return [await check(withPrefix), negativeControl("nginx's limit of bodies", [await check(limited)])];
}
