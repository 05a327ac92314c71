import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { startService } from '../../test/world/http-fixture.ts';
import type { Caller } from './caller.ts';
import { customerIpOf, limiterKeyOf } from './client-ip.ts';

describe('The client address', () => {
  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['64:ff9b::192.0.2.1', '64:ff9b:0:0::/64'],
  ])('%s is counted as %s', (ip, key) => {
    expect(limiterKeyOf(ip)).toBe(key);
  });

  const forwarding = (ip: string) => ({ headers: { 'x-svc-client-ip': ip } }) as unknown as IncomingMessage;
  const console = { class: 'provision', subject: null, keyId: null, ordinal: 0 } as const;

  it.each([
    ['198.51.100.7', '198.51.100.7'],
    ['::ffff:198.51.100.7', '198.51.100.7'],
    ['2001:db8::1', '2001:db8::1'],
    ['198.51.100.7, 198.51.100.8', '203.0.113.9'],
    ['somewhere', '203.0.113.9'],
    ['', '203.0.113.9'],
  ])('of a console call with x-svc-client-ip: %j is %s', (sent, ip) => {
    expect(customerIpOf(console, forwarding(sent), '203.0.113.9')).toBe(ip);
  });

  it('is not taken from x-svc-client-ip of any other caller', () => {
    const others = [null, { class: 'admin', subject: null, keyId: null }] satisfies (Caller | null)[];
    for (const caller of others)
      expect(customerIpOf(caller, forwarding('198.51.100.7'), '203.0.113.9')).toBe('203.0.113.9');
  });

  it('is not taken from x-svc-client-ip in the limit of failed authentications', async () => {
    const { call } = await startService({ limits: { failedAuthenticationsPerMinute: 2 } });
    const statuses = [];
    for (let i = 0; i < 3; i++) {
      const headers = { 'x-svc-client-ip': `198.51.100.${i}` };
      statuses.push((await call('GET', '/me', { token: 'dk_rp_nobody', headers })).status);
    }
    expect(statuses).toEqual([401, 401, 429]);
  });

  it('is not taken from X-Forwarded-For without a configured proxy', async () => {
    const { call } = await startService({ limits: { publicPerMinute: 2 } });
    const statuses = [];
    for (let i = 0; i < 3; i++)
      statuses.push(
        (await call('GET', '/healthz', { headers: { 'x-forwarded-for': `198.51.100.${i}` } })).status,
      );
    expect(statuses).toEqual([200, 200, 429]);
  });

  it('is the last X-Forwarded-For entry behind one proxy; earlier entries by the client are ignored', async () => {
    const { call } = await startService({ deps: { trustProxyHops: 1 }, limits: { publicPerMinute: 2 } });
    const from = async (forwarded: string) =>
      (await call('GET', '/healthz', { headers: { 'x-forwarded-for': forwarded } })).status;
    expect([
      await from('1.1.1.1, 198.51.100.7'),
      await from('2.2.2.2, 198.51.100.7'),
      await from('3.3.3.3, 198.51.100.7'),
    ]).toEqual([200, 200, 429]);
    expect(await from('198.51.100.8')).toBe(200);
    expect([
      await from('2001:db8::1'),
      await from('2001:db8::2'),
      await from('2001:db8:0:0:ffff::3'),
    ]).toEqual([200, 200, 429]);
  });

  it('is read from the proxy’s X-Forwarded-For even behind 2,000 other headers', async () => {
    const { raw } = await startService({ deps: { trustProxyHops: 1 }, limits: { publicPerMinute: 1 } });
    const from = (forwarded: string) =>
      raw(
        `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a:\r\n'.repeat(2_000)}X-Forwarded-For: ${forwarded}\r\n\r\n`,
      );
    for (const forwarded of ['198.51.100.7', '198.51.100.8'])
      expect(await from(forwarded)).toMatch(/^HTTP\/1\.1 200 /);
    expect(await from('198.51.100.7')).toMatch(/^HTTP\/1\.1 429 /);
  });
});
