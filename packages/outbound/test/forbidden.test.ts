/** The service's own hosts cannot be reached by any name, whatever their current addresses. */

import { createAuthority, type TestAuthority } from '@svc/testkit/outbound/certificates';
import { type ConnectSpy, spyOnConnects } from '@svc/testkit/outbound/connect-spy';
import { addressesReply, type DnsServer, RCODE, startDnsServer } from '@svc/testkit/outbound/dns-server';
import { startHttpsHost, type TestHost } from '@svc/testkit/outbound/hosts';
import { HOST_ADDRESS, OTHER_ADDRESS, worldOf } from '@svc/testkit/outbound/world';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { nodeDns } from '../src/dns.ts';

const SERVICE_V6 = '2606:2800:21f:cb07::1';
let authority: TestAuthority;
let host: TestHost;
let dnsServer: DnsServer;
let spy: ConnectSpy;
/** Types of the DNS questions about the service that fail. */
let failing: readonly string[] = [];

beforeAll(async () => {
  authority = await createAuthority();
  host = await startHttpsHost(await authority.issue(['other.example', 'moving.example']), (_, response) =>
    response.end('{}'),
  );
  dnsServer = await startDnsServer((question) => {
    const { name, nth } = question;
    if (name === 'svc.example')
      return failing.includes(question.type)
        ? { rcode: RCODE.SERVFAIL }
        : addressesReply(question, [OTHER_ADDRESS, SERVICE_V6]);
    if (name === 'alias.example') return addressesReply(question, [HOST_ADDRESS, OTHER_ADDRESS]);
    if (name === 'alias6.example') return addressesReply(question, [SERVICE_V6]);
    if (name === 'machine.example') return addressesReply(question, ['93.184.215.77']);
    if (name === 'moving.example')
      return addressesReply(question, [nth === 0 ? HOST_ADDRESS : OTHER_ADDRESS], 0);
    if (name === 'other.example') return addressesReply(question, [HOST_ADDRESS]);
    return { rcode: RCODE.NXDOMAIN };
  });
  spy = spyOnConnects();
});
afterAll(async () => {
  spy.restore();
  await Promise.all([host.close(), dnsServer.close()]);
});
beforeEach(() => {
  failing = [];
  spy.clear();
});

const world = () =>
  worldOf(
    authority.ca,
    { [HOST_ADDRESS]: host.endpoint },
    {
      dns: nodeDns({ servers: [dnsServer.server], timeoutMs: 500 }),
      forbidden: {
        hosts: ['svc.example', 'gone.example', '93.184.215.99'],
        addresses: () => ['93.184.215.77'],
      },
    },
  ).outbound;

it('a host that is not forbidden is asked', async () => {
  expect(await world().post('https://other.example/', '{}')).toMatchObject({ kind: 'answered', status: 200 });
  expect(spy.connects).toHaveLength(1);
});

it.each(['svc.example', 'status.svc.example', 'gone.example', 'a.gone.example'])(
  '%s is refused by its name',
  async (name) => {
    expect(await world().get(`https://${name}/`)).toMatchObject({ kind: 'refused', rule: 'name' });
    expect(spy.connects).toEqual([]);
  },
);

it.each(['alias', 'alias6', 'machine'])(
  '%s.example is refused by its address, also where it has other addresses',
  async (name) => {
    expect(await world().post(`https://${name}.example/`, '{}')).toMatchObject({
      kind: 'refused',
      rule: 'address',
    });
    expect(spy.connects).toEqual([]);
  },
);

it('a name that moves to a forbidden address between two requests is refused', async () => {
  const outbound = world();
  expect(await outbound.get('https://moving.example/')).toMatchObject({ kind: 'answered' });
  expect(await outbound.get('https://moving.example/')).toMatchObject({ kind: 'refused', rule: 'address' });
  expect(spy.connects).toEqual([`127.0.0.1:${host.endpoint.port}`]);
});

it.each([{ types: ['A', 'AAAA'] }, { types: ['A'] }, { types: ['AAAA'] }])(
  'no host is asked while the service’s own addresses cannot be looked up: $types',
  async ({ types }) => {
    failing = types;
    expect(await world().get('https://other.example/')).toMatchObject({ kind: 'unreachable', fault: 'dns' });
    expect(spy.connects).toEqual([]);
  },
);
