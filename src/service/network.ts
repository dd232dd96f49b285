/** Addresses: the network of a client, and loopback. */
import { BlockList, isIP, isIPv6 } from 'node:net';

/** Returns the /64 of an IPv6 address, which one customer of a provider controls, or the IPv4 address. */
export function networkOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, '');
  if (!isIPv6(plain)) return plain;
  const [head = '', tail = ''] = plain.split('::');
  const before = head.split(':').filter((group) => group !== '');
  const after = tail.split(':').filter((group) => group !== '');
  const zeros = Array.from({ length: Math.max(0, 8 - before.length - after.length) }, () => '0');
  return [...before, ...zeros, ...after]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

/** @param host name or IP address; IPv4-mapped IPv6 addresses count as IPv4 */
export function isLoopback(host: string): boolean {
  const version = isIP(host);
  return version === 0
    ? host.toLowerCase() === 'localhost'
    : loopback.check(host, version === 6 ? 'ipv6' : 'ipv4');
}
