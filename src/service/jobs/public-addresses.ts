/** Addresses that this service may connect to for a client: public ones, and hosts that the operator allows. */

import { lookup as resolveName } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** IANA IPv4 Special-Purpose Address Registry, and multicast. */
const ranges4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
];
/** Exceptions from global unicast, 2000::/3: protocol assignments with Teredo, documentation, 6to4. */
const ranges6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const private4 = toBlockList(ranges4, 'ipv4');
const private6 = toBlockList(ranges6, 'ipv6');
const global6 = toBlockList(['2000::/3'], 'ipv6');

/** The message names no host: messages are stored and logged. */
export class AddressError extends Error {
  constructor() {
    super('Expected a public address, got a private one');
  }
}

export function isPublic(address: string): boolean {
  if (!isIPv6(address)) return isIP(address) === 4 && !private4.check(address, 'ipv4');
  return global6.check(address, 'ipv6') && !private6.check(address, 'ipv6');
}

/** Checks literal addresses; `checkedLookup` checks names. */
export function isAllowedHost({ hostname }: URL, privateHosts: readonly string[]): boolean {
  if (privateHosts.includes(hostname)) return true;
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(literal) === 0 ? !/(^|\.)localhost\.?$/.test(hostname) : isPublic(literal);
}

/** Resolves a name once and checks the addresses that are connected to: DNS rebinding has no effect. */
export function checkedLookup(privateHosts: readonly string[]): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(
      hostname,
      { family: options.family ?? 0, hints: options.hints ?? 0, all: true },
      (error, addresses) => {
        if (error) return callback(error, [], 0);
        const allowed =
          privateHosts.includes(hostname) || addresses.every(({ address }) => isPublic(address));
        if (!allowed) return callback(new AddressError(), [], 0);
        if (options.all) return callback(null, addresses);
        const [first] = addresses;
        callback(null, first?.address ?? '', first?.family);
      },
    );
  };
}

function toBlockList(ranges: readonly string[], family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [network, bits] = range.split('/') as [string, string];
    list.addSubnet(network, Number(bits), family);
  }
  return list;
}
