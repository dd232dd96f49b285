/** Addresses of this machine that no other machine can reach. */
import { BlockList, isIP } from 'node:net';

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
