/** The real nginx with deploy/nginx/undertone.conf in front of the service: large bodies, pages, upgrades, a prefix for programs. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { root } from '../../../benchmarks/case.ts';
import { contentType, multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { makeFolder } from '../../support/folder.ts';
import { until } from '../../support/wait.ts';
import { negativeControl, none, type Row } from '../case.ts';
import { type Server, withServer } from '../support/service.ts';

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

const faultsOf = (edit: (text: string) => string) =>
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

export async function checkNginx(): Promise<Row[]> {
  const check = async (edit: (text: string) => string) =>
    none('nginx.conf: requests that fail behind nginx', await faultsOf(edit), 4);
  const withPrefix = (text: string) => text.replace('location /', prefix);
  const limited = (text: string) => withPrefix(text).replace('client_max_body_size 0;', '');
  return [await check(withPrefix), negativeControl("nginx's limit of bodies", [await check(limited)])];
}
