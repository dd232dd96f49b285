/** The files of deploy/, each checked by the tool that will read it; the long form executes the Containerfile. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, root, succeeds } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { makeVenv } from '../../../benchmarks/python.ts';
import { closeConnections, post, token } from '../../../benchmarks/service.ts';
import { call } from '../../support/http.ts';
import { atMost, exactly, negativeControl, type Options, type Row } from '../case.ts';
import { runContainer } from '../deployment/container.ts';
import { checkNginx } from '../deployment/nginx.ts';
import { allowedCalls, callsOfService, exposureOf, faultsOf, unit } from '../deployment/unit.ts';
import { buildService, withServer } from '../support/service.ts';

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
