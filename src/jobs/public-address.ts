/** Where this service may be sent by those who use it: public addresses, and hosts that the operator names. */
import { lookup as resolveName } from 'node:dns';
import { BlockList, isIP, isIPv6, type LookupFunction } from 'node:net';

/** What only the operator may allow; IANA's registries of special-purpose addresses. */
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
/** Global unicast is 2000::/3; of it, what leads elsewhere: Teredo, documentation, 6to4. */
const ranges6 = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'];

const private4 = toBlockList(ranges4, 'ipv4');
const private6 = toBlockList(ranges6, 'ipv6');
const global6 = toBlockList(['2000::/3'], 'ipv6');

export class AddressError extends Error {}

export function isPublic(address: string): boolean {
  if (!isIPv6(address)) return isIP(address) === 4 && !private4.check(address, 'ipv4');
  return global6.check(address, 'ipv6') && !private6.check(address, 'ipv6');
}

/** Whether it may be asked at all, as far as the address tells; names are looked at when they are resolved. */
export function isAllowedHost({ hostname }: URL, privateHosts: readonly string[]): boolean {
  if (privateHosts.includes(hostname)) return true;
  const literal = hostname.replace(/^\[(.*)\]$/, '$1');
  return isIP(literal) === 0 ? !/(^|\.)localhost\.?$/.test(hostname) : isPublic(literal);
}

/** Resolves a name once and connects to that very address: what a second answer of the name server says does not count. */
export function checkedLookup(privateHosts: readonly string[]): LookupFunction {
  return (hostname, options, callback) => {
    resolveName(
      hostname,
      { family: options.family ?? 0, hints: options.hints ?? 0, all: true },
      (error, found) => {
        if (error) return callback(error, [], 0);
        const wrong = privateHosts.includes(hostname)
          ? undefined
          : found.find(({ address }) => !isPublic(address));
        if (wrong)
          return callback(
            new AddressError(`Expected a public address for ${hostname}, got a private one`),
            [],
            0,
          );
        if (options.all) return callback(null, found);
        const [first] = found;
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
