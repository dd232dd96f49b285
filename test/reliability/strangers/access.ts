/** Sign-up, Host headers, shipped secrets, and URLs that jobs may fetch. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../../../benchmarks/case.ts';
import { call } from '../../support/http.ts';
import { exactly, none, type Row } from '../case.ts';
import { createAccountClient } from '../contract/visitor.ts';
import { sendRaw } from '../support/client.ts';
import { type Server, withServer } from '../support/service.ts';
import { credentials, post } from './account.ts';

type Address = Pick<Server, 'port' | 'token'>;

const parallelSignUps = 12;
/** Hosts that a page of another site can use by DNS rebinding. */
const otherHosts = `rebinding.example rebinding.example:PORT 127.0.0.1.rebinding.example:PORT rebinding.example.:PORT
  localhost.rebinding.example:PORT x.localhost:PORT 127.0.0.1@rebinding.example:PORT 127.0.0.1:PORT,rebinding.example`;
const ownHosts = '127.0.0.1:PORT localhost:PORT [::1]:PORT';
const words = (text: string, port = 0) => text.replaceAll('PORT', String(port)).split(/\s+/);

/** The status of a request with exactly these header lines. */
async function rawStatus(port: number, line: string, headers: readonly string[], body = ''): Promise<number> {
  const length = `Content-Length: ${body.length}`;
  const lines = [`${line} HTTP/1.1`, ...headers, length, 'Connection: close', '', body];
  return (await sendRaw(port, lines.join('\r\n'))).status;
}

export async function hostRows(port: number): Promise<Row[]> {
  const session = 'GET /account/api/session';
  const [others, own] = [words(otherHosts, port), words(ownHosts, port)];
  const accepted: string[] = [];
  for (const host of others) {
    const body = JSON.stringify(credentials(`page${accepted.length}@home.example`));
    const headers = [`Host: ${host}`, `Origin: http://${host}`, 'Content-Type: application/json'];
    const statuses = [
      await rawStatus(port, session, headers),
      await rawStatus(port, post('sign-up'), headers, body),
    ];
    if (statuses.some((status) => status < 400)) accepted.push(`"${host}": ${statuses.join(', ')}`);
  }
  const refused: string[] = [];
  for (const host of own) if ((await rawStatus(port, session, [`Host: ${host}`])) !== 200) refused.push(host);
  const duplicate = ['Host: 127.0.0.1', 'Host: rebinding.example'];
  const lines = [session, post('log-in'), 'GET /health', 'POST /v1/analyze', 'GET /'];
  const statuses: number[] = [];
  for (const line of lines) statuses.push(await rawStatus(port, line, duplicate));
  return [
    none('other hosts accepted on account routes', accepted, others.length),
    none('own hosts refused on account routes', refused, own.length),
    exactly(
      lines.length,
      'requests with two Host headers answered 400',
      `of ${lines.length}`,
      statuses.filter((status) => status === 400).length,
      statuses.join(', '),
    ),
  ];
}

export async function signUpRow(env: Readonly<Record<string, string>> = {}): Promise<Row> {
  return withServer({ ...env, UNDERTONE_LOG_LEVEL: 'error' }, async (server) => {
    const statuses: number[] = [];
    const signUp = (_: unknown, index: number) =>
      createAccountClient(server, (_operation, status) => statuses.push(status)).ask(
        post('sign-up'),
        credentials(`p${index}@home.example`),
      );
    await Promise.all(Array.from({ length: parallelSignUps }, signUp));
    return exactly(
      1,
      `accounts of ${parallelSignUps} sign-ups at one time, default settings`,
      'accounts',
      statuses.filter((status) => status === 200).length,
      [...new Set(statuses)].sort().join(', '),
    );
  });
}

const knownPlaceholders = [
  { name: 'UNDERTONE_TOKEN', value: 'replace-me-before-the-first-start' },
  { name: 'UNDERTONE_SECRET', value: 'replace-me-with-32-random-characters' },
];

/** Values of secrets in deploy/ and the documentation. */
function shippedSecrets() {
  const files = ['deploy', 'docs'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
      .map((entry) => join(entry.parentPath, entry.name)),
  );
  const pattern = /(UNDERTONE_(?:TOKEN|SECRET))(?:: |=)["']?([A-Za-z0-9\-._~+/]{8,})/g;
  const found = files.flatMap((file) => [...readFileSync(file, 'utf8').matchAll(pattern)]);
  return [...knownPlaceholders, ...found.map(([, name = '', value = '']) => ({ name, value }))];
}

export async function placeholderRow(): Promise<Row> {
  const secrets = shippedSecrets();
  const taken: string[] = [];
  for (const { name, value } of secrets) {
    const started = await withServer({ [name]: value }, async () => true).catch((error: Error) => {
      if (!/ended with 2/.test(error.message)) throw error;
      return false;
    });
    if (started) taken.push(`${name}=${value}`);
  }
  return none('shipped values of secrets that the service starts with', taken, secrets.length);
}

const escapes = `..%2fa.wav ..%2Fa.wav %2e%2e%2fa.wav .%2e%2fa.wav b/..%2f..%2fa.wav ..%5ca.wav %5c..%5ca.wav b%5c..%5c..%5ca.wav
  ..;/a.wav ..;c=d/a.wav %2e%2e;/a.wav ..%3b/a.wav ..%252fa.wav %252e%252e%252fa.wav %252e%252e/a.wav ..%25252fa.wav ..%255ca.wav
  %c0%ae%c0%ae/a.wav ..%c0%afa.wav ..%00/a.wav a%00.wav ../a.wav %2e%2e/a.wav ..\\a.wav /../../a.wav ..%ef%bc%8fa.wav`;
const valid =
  'a.wav a%20b.wav f%C3%BCr.wav a/b..c/d.wav a.wav?X-Amz-Credential=k%2F20261122%2Fs3&s=a%2Bb a;v=1.wav';

/** `prefix` is the one that the operator allows. */
export async function addressRows({ port, token }: Address, prefix: string): Promise<Row[]> {
  const accepts = async (path: string) => {
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const body = JSON.stringify({ urls: [prefix + path] });
    const { status } = await call(port, { method: 'POST', path: '/v1/jobs', headers, body });
    if (status >= 300 && status !== 422) throw new Error(`Expected a job or 422 for ${path}, got ${status}`);
    return status < 300;
  };
  const passed: string[] = [];
  for (const path of words(escapes)) if (await accepts(path)) passed.push(path);
  const refused: string[] = [];
  for (const path of words(valid)) if (!(await accepts(path))) refused.push(path);
  return [
    none('URLs outside the allowed prefix accepted', passed, words(escapes).length),
    none('URLs inside the allowed prefix refused', refused, words(valid).length),
  ];
}
