/**
 * The whole corpus against the guard, with traps that listen on loopback (both families, port 443 too if the system
 * allows it) and a spy on every connection of the process: nothing may connect. Controls show that traps and spy work.
 */
import http from 'node:http';
import net from 'node:net';
import { text } from 'node:stream/consumers';
import type { DidWeb } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { createAuthority } from '@svc/testkit/outbound/certificates';
import { type ConnectSpy, spyOnConnects } from '@svc/testkit/outbound/connect-spy';
import { addressesReply, type DnsServer, startDnsServer } from '@svc/testkit/outbound/dns-server';
import { startHttpHost, startHttpsHost, startTcpHost, type TestHost } from '@svc/testkit/outbound/hosts';
import { DNS_CASES, LOOPBACK_SPELLINGS, REFUSED_DIDS, REFUSED_URLS } from '@svc/testkit/outbound/ssrf-corpus';
import { HOST_ADDRESS, worldOf } from '@svc/testkit/outbound/world';
import { sampleOf } from '@svc/testkit/sampled';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { resolveDidWeb } from '../src/did-web.ts';
import { nodeDns } from '../src/dns.ts';
import { createOutbound, type Outbound } from '../src/outbound.ts';

const PROXY_VARIABLES = ['http_proxy', 'https_proxy', 'all_proxy', 'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY'];
/** The options with which events are sent. */
const WEBHOOK = { headers: { 'webhook-id': 'evt_1' }, maxBytes: null };
const REBINDING = 'rebinding.example';

let spy: ConnectSpy;
let dnsServer: DnsServer;
let traps: TestHost[];
let mapped: TestHost;
let guards: Record<'production' | 'development', Outbound>;

const trapHits = (): number => traps.reduce((sum, trap) => sum + trap.accepted(), 0);

/** Low ports need a privilege; without it only the spy watches them. */
const tryTrapOn443 = (address: string): Promise<TestHost | null> =>
  new Promise((resolve) => {
    let accepted = 0;
    const server = net.createServer((socket) => {
      accepted += 1;
      socket.destroy();
    });
    server.once('error', () => resolve(null));
    server.listen(443, address, () =>
      resolve({
        endpoint: { address, port: 443 },
        accepted: () => accepted,
        close: () => new Promise((closed) => server.close(() => closed())),
      }),
    );
  });

const plainGet = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    http.get(new URL(url), { agent: false }, (response) => resolve(text(response))).once('error', reject);
  });

/** Titles cannot provide dots, so each case has a name by its number. */
const caseHost = (i: number): string => `case-${i}.example`;

beforeAll(async () => {
  const answer200 = (_request: unknown, response: { end(text: string): void }) => response.end('trapped');
  const low = await Promise.all(['127.0.0.1', '::1'].map(tryTrapOn443));
  traps = [
    await startHttpHost(answer200, '127.0.0.1'),
    await startHttpHost(answer200, '::1'),
    ...low.filter((trap) => trap !== null),
  ];
  mapped = await startHttpHost(answer200);
  dnsServer = await startDnsServer((question) => {
    const [, number = ''] = /^case-([0-9]+)\.example$/.exec(question.name) ?? [];
    if (question.name === REBINDING)
      return addressesReply(question, question.nth === 0 ? [HOST_ADDRESS] : ['127.0.0.1'], 0);
    return DNS_CASES[Number(number)]?.respond(question) ?? 'silence';
  });
  const dns = nodeDns({ servers: [dnsServer.server], timeoutMs: 50 });
  const hosts = { 'mapped.example': `http://127.0.0.1:${mapped.endpoint.port}` };
  guards = {
    production: createOutbound({ mode: 'production', outboundMap: null, dns }),
    development: createOutbound({ mode: 'development', outboundMap: { hosts, txt: {} }, dns }),
  };
  for (const name of PROXY_VARIABLES) process.env[name] = `http://127.0.0.1:${traps[0]?.endpoint.port ?? 0}`;
  spy = spyOnConnects();
});

afterAll(async () => {
  spy.restore();
  for (const name of PROXY_VARIABLES) delete process.env[name];
  await Promise.all([...traps, mapped, dnsServer].map((host) => host.close()));
});

let hitsBefore = 0;
beforeEach(() => {
  spy.clear();
  hitsBefore = trapHits();
});

const expectNoConnection = (): void => {
  expect(spy.connects).toEqual([]);
  expect(trapHits() - hitsBefore).toBe(0);
};

describe('the traps and the spy:', () => {
  it('the corpus has at least 500 cases and none twice', () => {
    const cases = [...REFUSED_URLS, ...REFUSED_DIDS, ...DNS_CASES.map(({ title }) => title)];
    expect(new Set(cases).size).toBe(cases.length);
    expect(cases.length).toBeGreaterThanOrEqual(500);
  });

  it.each(LOOPBACK_SPELLINGS)('a plain client at %s connects to a trap', async (host) => {
    const { hostname } = new URL(`http://${host}/`);
    const trap = traps[hostname === '[::1]' ? 1 : 0];
    expect(await plainGet(`http://${host}:${trap?.endpoint.port}/`)).toBe('trapped');
    expect(trapHits() - hitsBefore).toBe(1);
    expect(spy.connects.length).toBe(1);
  });

  it('the spy records a bare socket', async () => {
    const host = await startTcpHost((socket) => socket.end());
    const socket = net.connect(host.endpoint.port, host.endpoint.address);
    await new Promise((resolve) => socket.once('close', resolve).resume());
    expect(spy.connects).toEqual([`127.0.0.1:${host.endpoint.port}`]);
    await host.close();
  });
});

describe.each(['production', 'development'] as const)('in %s there is no connection for', (mode) => {
  /** A sample takes all in production, and some in development. */
  const some = <T>(all: readonly T[], count: number): readonly T[] =>
    mode === 'production' ? all : sampleOf(all, count);

  it.each(some(REFUSED_URLS, 60))('URL %j', async (url) => {
    const asked = dnsServer.questions.length;
    expect(await guards[mode].get(url)).toMatchObject({ kind: 'refused' });
    expect(await guards[mode].post(url, '{}')).toMatchObject({ kind: 'refused' });
    expect(await guards[mode].post(url, '{}', WEBHOOK)).toMatchObject({ kind: 'refused' });
    expect(dnsServer.questions.length).toBe(asked);
    expectNoConnection();
  });

  it.each(some(REFUSED_DIDS, 20))('DID %j', async (did) => {
    expect(await resolveDidWeb(guards[mode], nativeCrypto, did as DidWeb)).toMatchObject({ kind: 'invalid' });
    expectNoConnection();
  });

  const dnsCases = DNS_CASES.map((dnsCase, i) => ({ ...dnsCase, i }));
  it.each(some(dnsCases, 10))('DNS: $title', async ({ i, outcome }) => {
    const answer = await guards[mode].get(`https://${caseHost(i)}/.well-known/did.json`);
    expect(answer.kind === 'refused' ? answer.rule : answer.kind === 'unreachable' && answer.fault).toBe(
      outcome,
    );
    expect(dnsServer.questions.some(({ name }) => name === caseHost(i))).toBe(true);
    expectNoConnection();
  });
});

describe('allowed connections:', () => {
  it('in development a mapped name connects only to its loopback address', async () => {
    expect(await guards.development.get('https://mapped.example/')).toMatchObject({ status: 200 });
    expect(spy.connects).toEqual([`127.0.0.1:${mapped.endpoint.port}`]);
    expect(await guards.production.get('http://mapped.example/')).toMatchObject({ kind: 'refused' });
    expect(spy.connects.length).toBe(1);
  });

  it('a name that rebinds to loopback is connected once, at its checked address, and then refused', async () => {
    const authority = await createAuthority();
    const leaf = await authority.issue([REBINDING]);
    const host = await startHttpsHost(leaf, (_request, response) => void response.end('{}'));
    const dns = nodeDns({ servers: [dnsServer.server], timeoutMs: 500 });
    const { outbound, checked } = worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint }, { dns });
    const asked = () => dnsServer.questions.filter(({ name }) => name === REBINDING).map(({ type }) => type);

    expect(await outbound.get(`https://${REBINDING}/`)).toMatchObject({ kind: 'answered', status: 200 });
    expect(asked().sort()).toEqual(['A', 'AAAA']);
    expect(await outbound.get(`https://${REBINDING}/`)).toMatchObject({ kind: 'refused', rule: 'address' });
    expect(checked).toEqual([{ address: HOST_ADDRESS, port: 443 }]);
    expect(spy.connects).toEqual([`127.0.0.1:${host.endpoint.port}`]);
    expect(trapHits() - hitsBefore).toBe(0);
    await host.close();
  });

  it.each([301, 302, 303, 307, 308])(
    'a redirect (%d) into a trap is returned and not followed',
    async (status) => {
      const authority = await createAuthority();
      const leaf = await authority.issue(['acme.example']);
      const location = `http://127.0.0.1:${traps[0]?.endpoint.port}/`;
      const host = await startHttpsHost(leaf, (_request, response) => {
        response
          .writeHead(status, { location, refresh: `0; url=${location}`, link: `<${location}>; rel=preload` })
          .end();
      });
      const { outbound } = worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint });
      expect(await outbound.get('https://acme.example/')).toMatchObject({ kind: 'answered', status });
      expect(await outbound.post('https://acme.example/', '{}')).toMatchObject({ kind: 'answered', status });
      expect(spy.connects).toEqual(Array(2).fill(`127.0.0.1:${host.endpoint.port}`));
      expect(trapHits() - hitsBefore).toBe(0);
      await host.close();
    },
  );

  it('a socket whose address differs from the checked one is closed before a byte is sent', async () => {
    const authority = await createAuthority();
    const received: Buffer[] = [];
    const elsewhere = await startTcpHost((socket) => socket.on('data', (chunk) => received.push(chunk)));
    // The system treats 0.0.0.0 as loopback: the socket is connected to another address than the one it was sent to.
    const { outbound } = worldOf(authority.ca, {
      [HOST_ADDRESS]: { address: '0.0.0.0', port: elsewhere.endpoint.port },
    });
    expect(await outbound.get('https://acme.example/')).toEqual({
      kind: 'unreachable',
      fault: 'connect',
      why: 'connected to another address than was checked',
    });
    expect(spy.connects.length).toBe(1);
    expect(received).toEqual([]);
    await elsewhere.close();
  });
});
