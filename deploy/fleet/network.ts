/** Hosts on one machine: network namespaces on a bridge, each with an address of its own. Needs root. */
import { spawnSync } from 'node:child_process';
import { ExpectedError } from '../../scripts/run-script.ts';

const bridge = 'undertone0';
const subnet = '10.77.0';
/** Of the machine itself on the bridge: databases and the load balancer. */
export const gateway = `${subnet}.1`;

export type Namespace = {
  readonly name: string;
  readonly address: string;
  /** What to put before a command so that it runs there. */
  readonly enter: readonly string[];
};

type Network = {
  readonly namespaces: readonly Namespace[];
  remove(): void;
};

/** The names and addresses are those of deploy/haproxy/haproxy.cfg. Leftovers of an earlier fleet are removed. */
export function makeNetwork(names: readonly string[]): Network {
  if (process.getuid?.() !== 0)
    throw new ExpectedError('Expected root for network namespaces, got another user');
  const namespaces = names.map((name, index) => namespaceOf(name, index));
  const remove = () => {
    // The kernel removes the links of a deleted namespace after a delay.
    for (const [index, { name }] of namespaces.entries()) {
      ip(false, 'link', 'delete', linkOf(index));
      ip(false, 'netns', 'delete', name);
    }
    ip(false, 'link', 'delete', bridge);
  };
  remove();
  ip(true, 'link', 'add', bridge, 'type', 'bridge');
  ip(true, 'address', 'add', `${gateway}/24`, 'dev', bridge);
  ip(true, 'link', 'set', bridge, 'up');
  for (const [index, namespace] of namespaces.entries()) connect(namespace, linkOf(index));
  return { namespaces, remove };
}

const linkOf = (index: number) => `undertone${index + 1}`;

function namespaceOf(host: string, index: number): Namespace {
  const name = `undertone-${host}`;
  return { name, address: `${subnet}.${11 + index}`, enter: ['ip', 'netns', 'exec', name] };
}

function connect({ name, address }: Namespace, link: string): void {
  ip(true, 'netns', 'add', name);
  ip(true, 'link', 'add', link, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name);
  ip(true, 'link', 'set', link, 'master', bridge, 'up');
  ip(true, '-n', name, 'address', 'add', `${address}/24`, 'dev', 'eth0');
  ip(true, '-n', name, 'link', 'set', 'lo', 'up');
  ip(true, '-n', name, 'link', 'set', 'eth0', 'up');
}

function ip(needed: boolean, ...args: string[]): void {
  const { status, stderr } = spawnSync('ip', args, { encoding: 'utf8' });
  if (needed && status !== 0) throw new Error(`ip ${args.join(' ')}: ${stderr}`);
}
