import {
  IANA_IPV4_SPECIAL,
  IANA_IPV6_SPECIAL,
  OTHER_SPECIAL,
  PUBLIC_ADDRESSES,
} from '@svc/testkit/outbound/iana-special-purpose';
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { describe, expect, it } from 'vitest';
import { findSpecialUse } from './addresses.ts';

const isPublicAddress = (text: string): boolean => findSpecialUse(text) === null;

/** An address in the block: its network bits, and host bits from `bytes`. */
const inside = (cidr: string, bytes: readonly number[]): string => {
  const [network, prefix] = ipaddr.parseCIDR(cidr);
  const host = network.toByteArray().map((byte, i) => {
    const networkBits = Math.min(8, Math.max(0, prefix - 8 * i));
    const mask = (0xff << (8 - networkBits)) & 0xff;
    return (byte & mask) | ((bytes[i] ?? 0) & ~mask & 0xff);
  });
  return ipaddr.fromByteArray(host).toString();
};

const anyBytes = fc.array(fc.integer({ min: 0, max: 255 }), { minLength: 16, maxLength: 16 });

describe('public addresses:', () => {
  it.each([...IANA_IPV4_SPECIAL, ...IANA_IPV6_SPECIAL, ...OTHER_SPECIAL])(
    'no address in %s is public',
    (cidr) => {
      for (const fill of [0x00, 0xff])
        expect(findSpecialUse(inside(cidr, Array(16).fill(fill)))).not.toBeNull();
      fc.assert(fc.property(anyBytes, (bytes) => !isPublicAddress(inside(cidr, bytes))));
    },
  );

  it.each([...PUBLIC_ADDRESSES])('%s is public', (address) => {
    expect(findSpecialUse(address)).toBeNull();
  });

  it('no IPv6 address that embeds an IPv4 address is public', () => {
    const forms = [
      (a: string) => `::ffff:${a}`,
      (a: string) => `::${a}`,
      (a: string) => `64:ff9b::${a}`,
      (a: string) => `64:ff9b:1::${a}`,
      (a: string) => `2002:${hex(a)}::1`,
      (a: string) => `2001:0:${hex(a)}::1`,
    ];
    const hex = (a: string) => {
      const [w = 0, x = 0, y = 0, z = 0] = a.split('.').map(Number);
      return `${((w << 8) | x).toString(16)}:${((y << 8) | z).toString(16)}`;
    };
    fc.assert(
      fc.property(fc.ipV4(), fc.constantFrom(...forms), (address, form) => !isPublicAddress(form(address))),
    );
  });

  it.each([
    ...[
      '',
      'localhost',
      '1.2.3',
      '127.1',
      '0177.0.0.1',
      '0x7f.0.0.1',
      '2130706433',
      '8.8.8.8 ',
      '8.8.8.8/32',
    ],
    ...['fe80::1%lo', '2606:4700::1%eth0', '[2606:4700::1]', '8.8.8.08', '::g', '１.1.1.1'],
  ])('%j is not an address', (text) => {
    expect(findSpecialUse(text)).toBe('not an IP address');
  });
});
