/** HAProxy and nginx, as configured in `deploy/proxy`, in front of real nodes. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { withDatabase } from '@svc/testkit';
import { sampleOf } from '@svc/testkit/sampled';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, type ApiNodes, type InnerNode, startApiNodes } from '../world/api-node.ts';
import { until } from '../world/fence.ts';
import {
  askRaw,
  connectSecurely,
  isInstalled,
  PROXIES,
  type ProxyKind,
  type RunningProxy,
  startProxy,
} from '../world/reverse-proxy.ts';
import { createTenants, issueGrant, verifyBody } from '../world/tenants.ts';

/** Paths that another parser would read differently. */
const NASTY_PATHS = [
  '/relying-parties/did:web:shop.example%3A8443',
  '/relying-parties/did:web:shop.example%253A8443',
  '/relying-parties/did%3Aweb%3Ashop.example%253A8443',
  '/principals/..%2Frelying-parties',
  '/principals/..%2f',
  '/principals/%2e%2e/healthz',
  '/principals/%252e%252e/healthz',
  '/principals/../healthz',
  '/principals/./x',
  '//healthz',
  '/healthz//',
  '/principals//did:web:x',
  '/healthz;a=b',
  '/healthz;/x',
  '/principals/%5c..%5chealthz',
  '/principals/a+b%20c%2Bd?x=a+b%20c&y=%2F..%2F',
  '/HealthZ',
  '/healthz?',
  '/principals/%C3%A9%F0%9F%94%91',
];
/** Paths out of the root, which nginx itself refuses; no node may answer them. */
const OUT_OF_THE_ROOT = ['/..%2Fhealthz', '/principals/..%2F..%2F..%2Fhealthz', '/../healthz'];

const KINDS = sampleOf(PROXIES, 1);
const HEALTH_CHECKS = ['/readyz', '/livez'];

const database = withDatabase();
let api: ApiNodes<InnerNode>;
let recorder: { readonly server: Server; readonly seen: IncomingMessage[]; readonly port: number };
const portOf = (url: string) => Number(new URL(url).port);

beforeAll(async () => {
  api = await startApiNodes(2, database.url, { SVC_TRUST_PROXY: '1' });
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    if (!HEALTH_CHECKS.includes(request.url ?? '')) seen.push(request);
    response.end('recorded');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  recorder = { server, seen, port: (server.address() as AddressInfo).port };
});
afterAll(async () => {
  await api?.stop();
  recorder?.server.close();
});

for (const kind of KINDS) {
  describe.skipIf(!isInstalled(kind))(`${kind.name}, as configured in deploy/proxy`, () => {
    let before: RunningProxy;
    let beforeRecorder: RunningProxy;
    beforeAll(async () => {
      const nodes = api.processes.map((one) => ({
        port: portOf(one.baseUrl),
        adminPort: portOf(one.adminUrl),
      }));
      before = await startProxy(kind, nodes);
      const recording = { port: recorder.port, adminPort: recorder.port };
      beforeRecorder = await startProxy(kind, [recording, recording]);
    });
    afterAll(async () => {
      await before?.stop();
      await beforeRecorder?.stop();
    });
    const direct = () => ({ port: portOf(api.processes[0]?.baseUrl ?? '') });

    it.each(NASTY_PATHS)('forwards %s byte for byte', async (path) => {
      recorder.seen.length = 0;
      expect(await askRaw(beforeRecorder, path)).toMatchObject({ status: 200 });
      expect(recorder.seen.map(({ url }) => url)).toEqual([path]);
    });

    it.each(OUT_OF_THE_ROOT)('forwards %s byte for byte, or refuses it itself (nginx)', async (path) => {
      recorder.seen.length = 0;
      const { status } = await askRaw(beforeRecorder, path);
      const urls = recorder.seen.map(({ url }) => url);
      expect(kind.name === 'nginx' ? { status, urls } : { urls }).toEqual(
        kind.name === 'nginx' ? { status: 400, urls: [] } : { urls: [path] },
      );
    });

    it.each(NASTY_PATHS)('gives the same answer for %s as the API without a proxy', async (path) => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
      const [through, without] = [
        await askRaw(before, path, { headers }),
        await askRaw(direct(), path, { headers }),
      ];
      expect(through.status).toBe(without.status);
      expect(comparable(through.body)).toBe(comparable(without.body));
    });

    it('finds a relying party whose did:web has a port', async () => {
      const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'application/json' };
      const did = `did:web:${kind.name.toLowerCase()}.example%3A8443`;
      const body = JSON.stringify({ kind: 'hosted', did });
      expect((await askRaw(before, '/relying-parties', { method: 'POST', headers, body })).status).toBe(201);
      const found = await askRaw(before, `/relying-parties/${encodeURIComponent(did)}`, { headers });
      expect(found.status).toBe(200);
      expect(found.body).toContain(JSON.stringify(did));
    });

    it('appends the address of the client to X-Forwarded-For, and keeps the Host', async () => {
      recorder.seen.length = 0;
      const headers = { 'x-forwarded-for': '203.0.113.7', host: 'status.svc.test' };
      await askRaw(beforeRecorder, '/x', { headers });
      const [seen] = recorder.seen;
      expect(seen?.headers.host).toBe('status.svc.test');
      expect(`${seen?.headers['x-forwarded-for']}`.split(/, */).at(-1)).toBe('127.0.0.1');
    });

    it('sends no request to a node that does not listen', async () => {
      const [first, second] = api.processes.map((one) => ({
        port: portOf(one.baseUrl),
        adminPort: portOf(one.adminUrl),
      }));
      if (first === undefined || second === undefined) throw new Error('two nodes were started');
      const proxy = await startProxy(kind, [{ port: 1, adminPort: second.adminPort }, second]);
      try {
        const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
        for (let i = 0; i < 20; i++) {
          const { status } = await askRaw(proxy, '/relying-parties/did:web:nobody.example', { headers });
          expect(status).toBe(404);
        }
      } finally {
        await proxy.stop();
      }
    });
  });
}

/** Resolves once the connection is closed, whatever is sent on it before. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket
      .on('error', () => {})
      .on('close', () => resolve())
      .resume();
  });

/** Values in each configuration, each with the smaller one that a test puts in its place. */
const IN_SMALL: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  HAProxy: [
    ['sc0_conn_cur gt 512', 'sc0_conn_cur gt 8'],
    ['timeout http-request 10s', 'timeout http-request 1s'],
  ],
  nginx: [
    ['limit_conn addresses 512', 'limit_conn addresses 8'],
    ['client_header_timeout 10s', 'client_header_timeout 1s'],
  ],
};
const LIMIT = 8;

const PROXY_ON_IPV6 = fileURLToPath(new URL('../world/proxy-on-ipv6.ts', import.meta.url));
/**
 * Only real root can create a network; a user that acts as root in a namespace could not become the user that nginx
 * runs as.
 */
const hasNetworks = process.getuid?.() === 0 && existsSync('/usr/bin/unshare') && existsSync('/usr/sbin/ip');

/** Runs a program with a loopback interface and no other network; returns its standard output. */
const runInOwnNetwork = (file: string, parameter: string): string => {
  const start = `ip link set lo up && exec "$0" --conditions=svc-source --import tsx "$1" "$2"`;
  const parameters = ['--net', 'sh', '-c', start, process.execPath, file, parameter];
  return execFileSync('/usr/bin/unshare', parameters, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
};

for (const kind of KINDS) {
  describe.skipIf(!isInstalled(kind))(
    `${kind.name}, for an address that holds connections without a request`,
    () => {
      let proxy: RunningProxy;
      const start = async (changed: number) => {
        const recording = { port: recorder.port, adminPort: recorder.port };
        proxy = await startProxy(kind, [recording, recording], IN_SMALL[kind.name]?.slice(0, changed));
      };
      afterEach(() => proxy?.stop());
      /** Sends half a header on each connection; connections that are closed before that count too. */
      const hold = (count: number) =>
        Array.from({ length: count }, () => {
          const socket = connectSecurely(proxy, '127.0.0.2');
          socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: ');
          return { socket, isClosed: closed(socket) };
        });

      it('closes the connections above the limit of the address, and answers another address', async () => {
        await start(1);
        const held = hold(4 * LIMIT);
        let open = held.length;
        for (const { isClosed } of held) void isClosed.then(() => (open -= 1));
        await until(async () => open <= LIMIT);
        expect(open).toBe(LIMIT);
        expect(await askRaw(proxy, '/x', { localAddress: '127.0.0.3' })).toMatchObject({ status: 200 });
        for (const { socket } of held) socket.destroy();
      });

      it('closes all connections after the timeout for request headers', async () => {
        await start(2);
        await Promise.all(hold(LIMIT).map(({ isClosed }) => isClosed));
        expect(await askRaw(proxy, '/x', { localAddress: '127.0.0.2' })).toMatchObject({ status: 200 });
      });

      it.skipIf(!hasNetworks)('limits IPv6 connections by /64 and IPv4 connections by address', () => {
        const open = JSON.parse(runInOwnNetwork(PROXY_ON_IPV6, kind.name)) as unknown;
        expect(open).toEqual({ subscriber: LIMIT, neighbour: LIMIT, ipv4: LIMIT });
      });
    },
  );
}

const [HAPROXY] = PROXIES;

describe.skipIf(HAPROXY === undefined || !isInstalled(HAPROXY))('HAProxy, during a hold', () => {
  let proxy: RunningProxy;
  beforeAll(async () => {
    const nodes = api.processes.map((one) => ({
      port: portOf(one.baseUrl),
      adminPort: portOf(one.adminUrl),
    }));
    proxy = await startProxy(HAPROXY as ProxyKind, nodes);
  });
  afterAll(() => proxy?.stop());
  /** Resolves once HAProxy has noticed that this node, the first or the second, holds or no longer holds. */
  const setHold = async (n: number, reason: string | null) => {
    const before = proxy.log().length;
    api.processes[n - 1]?.service.holds.set('fence', reason);
    const seen = `Server api/api-${n} is ${reason === null ? 'UP' : 'DOWN'}`;
    await until(async () => proxy.log().slice(before).includes(seen));
  };
  const post = (path: string, key: string, body: unknown) =>
    askRaw(proxy, path, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('of one node uses the other; during a hold of both a revocation is 200 and a verification is the 503 of a node', async () => {
    const tenants = await createTenants(api.processes[0]?.baseUrl ?? '');
    const [grant, other] = [await issueGrant(tenants), await issueGrant(tenants)];
    const HELD = 'the fence was not confirmed';
    try {
      await setHold(1, HELD);
      for (let i = 0; i < 20; i++) expect(await askRaw(proxy, '/healthz')).toMatchObject({ status: 200 });
      await setHold(2, HELD);
      expect(await post('/revoke', tenants.principalKey, { grant_id: other.grantId })).toMatchObject({
        status: 200,
      });
      const refused = await post('/verify', tenants.rpKey, await verifyBody(tenants, grant));
      expect(refused.status).toBe(503);
      expect(refused.body).toContain('"SERVICE_UNAVAILABLE"');
    } finally {
      await Promise.all([setHold(1, null), setHold(2, null)]);
    }
    const decided = await post('/verify', tenants.rpKey, await verifyBody(tenants, grant));
    expect(decided.body).toContain('"ALLOW"');
  });
});

/** Omits what differs from request to request. */
const comparable = (body: string): string =>
  body
    .replace(/"(?:request_id|instance|time|as_of|now)":"[^"]*"/g, '')
    .replace(/^[0-9a-f]+\r\n|\r\n[0-9a-f]*\r\n/g, '');
