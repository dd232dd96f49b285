/** The settings in the files of deploy/, as the service takes them: nothing that was published opens it. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { ConfigError, parseConfig } from '../src/service/config.ts';
import { openReceiptKeys } from '../src/service/receipt-keys.ts';

type Settings = Readonly<Record<string, string>>;

const kubernetes = 'deploy/kubernetes/undertone.yaml';
const compose = 'deploy/compose/compose.yaml';
const notations = [
  /^ +(UNDERTONE_\w+): (.+)$/gm,
  /^ +- name: (UNDERTONE_\w+)\n +value: (.+)$/gm,
  /^ENV (UNDERTONE_\w+)=(.+)$/gm,
  /^Environment=.*?(UNDERTONE_\w+)=(\S+)/gm,
];

function settingsOf(text: string): Settings {
  const found = notations.flatMap((notation) => [...text.matchAll(notation)]);
  return Object.fromEntries(
    found.map(([, name = '', value = '']) => [name, value.replace(/^'(.*)'$/, '$1')]),
  );
}

function faultsOf(env: Settings): readonly string[] {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const refused = (name: string) =>
  `Expected a value of your own for \`${name}\`, got the placeholder of an example`;
const own: Settings = {
  UNDERTONE_SECRET: 'k3'.repeat(24),
  UNDERTONE_DATABASE_URL: 'postgres://undertone:w4@postgres/undertone',
  UNDERTONE_PUBLIC_URL: 'https://voice.example',
};

for (const file of [kubernetes, compose]) {
  test(`the service does not start with ${file} as it is, and says which values are missing`, (t) => {
    const shipped = settingsOf(readFileSync(file, 'utf8'));
    t.deepEqual(faultsOf(shipped), Object.keys(own).map(refused).sort());
    for (const name of Object.keys(own)) {
      t.deepEqual(faultsOf({ ...shipped, ...own, [name]: shipped[name] as string }), [refused(name)]);
    }
    const { publicUrl, signUp, token } = parseConfig({ ...shipped, ...own });
    t.deepEqual(
      { publicUrl, signUp, token },
      { publicUrl: 'https://voice.example', signUp: 'closed', token: null },
    );
  });
}

test('placeholders of earlier manifests are refused too', (t) => {
  for (const [name, value] of [
    ['UNDERTONE_TOKEN', 'replace-me-before-the-first-start'],
    ['UNDERTONE_SECRET', 'replace-me-with-32-random-characters'],
    ['UNDERTONE_TOKEN', 'Replace-Me-before-the-first-start'],
  ] as const) {
    t.deepEqual(faultsOf({ [name]: value }), [refused(name)]);
  }
});

test('every file of deploy/ but its programs holds known settings, and neither a token nor a secret that works', (t) => {
  const files = readdirSync('deploy', { recursive: true, encoding: 'utf8', withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map(({ parentPath, name }) => join(parentPath, name));
  t.true(files.includes(kubernetes) && files.includes(compose));
  let seen = 0;
  for (const file of files) {
    const settings = settingsOf(readFileSync(file, 'utf8'));
    seen += Object.keys(settings).length;
    const secrets = ['UNDERTONE_TOKEN', 'UNDERTONE_SECRET', 'UNDERTONE_DATABASE_URL'];
    const faults = faultsOf(settings);
    for (const name of secrets.filter((one) => one in settings)) t.true(faults.includes(refused(name)), file);
    t.deepEqual(
      faults.filter((fault) => !fault.includes('placeholder')),
      [],
      file,
    );
  }
  t.true(seen > 8, `${seen}`);
});

test('deployments that are reachable from outside have sign-up closed', (t) => {
  for (const file of [kubernetes, compose, 'deploy/container/Containerfile']) {
    t.is(settingsOf(readFileSync(file, 'utf8')).UNDERTONE_SIGNUP, 'closed', file);
  }
});

test('Compose publishes the HTTP port to its own machine alone, and Redis keeps nothing', (t) => {
  const text = readFileSync(compose, 'utf8');
  const published = [...text.matchAll(/^ +ports: \[(.*)\]$/gm)].map(([, ports]) => ports);
  t.deepEqual(published, ["'127.0.0.1:8080:8080'"]);
  t.is(text.match(/ports:/g)?.length, 1);
  t.regex(text, /redis-server, --save, '', --appendonly, 'no', .*noeviction\]/);
});

test('every host of a file shares one file of receipt keys, and none invents its own', async (t) => {
  for (const file of [kubernetes, compose]) {
    const settings = { ...settingsOf(readFileSync(file, 'utf8')), ...own };
    t.regex(settings.UNDERTONE_RECEIPT_KEYS ?? '', /receipt-keys\.json$/, file);
    await t.throwsAsync(openReceiptKeys(parseConfig(settings)), { message: /got none at/ }, file);
  }
  const pods = readFileSync(kubernetes, 'utf8');
  t.regex(pods, /- name: receipt-keys\n +mountPath: \/etc\/undertone\n +readOnly: true\n/);
  t.regex(pods, /- name: receipt-keys\n +secret:\n +secretName: undertone-receipt-keys\n/);
  const services = readFileSync(compose, 'utf8').split(/^ {2}(?=\w+:\n)/m);
  for (const name of ['undertone', 'worker']) {
    const service =
      services.find((text) => text.startsWith(`${name}:\n`) && text.includes('*settings')) ?? '';
    t.regex(service, /^ +volumes: \['undertone:\/data(:ro)?'\]$/m, name);
  }
});

test('with a trusted proxy, only the proxy can connect to the HTTP port', (t) => {
  const text = readFileSync(kubernetes, 'utf8');
  t.not(settingsOf(text).UNDERTONE_TRUST_PROXY, undefined);
  const policy = text.split(/^---$/m).find((document) => document.includes('kind: NetworkPolicy')) ?? '';
  const rules = (/^ {2}ingress:\n((?: {4}.*\n)+)/m.exec(policy)?.[1] ?? '').split(/^ {4}- /m).slice(1);
  t.is(rules.length, 2);
  for (const rule of rules) t.regex(rule, /^from:\n +- namespaceSelector:/);
});
