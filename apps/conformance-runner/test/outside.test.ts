/**
 * Runs against names that resolve to internal addresses, and against endpoints that misbehave: each ends with a clear
 * result.
 */

import { answerRequest, CASE_OPS, type Transport } from '@svc/conformance';
import { createOwnEngine, readVectorSet } from '@svc/conformance/node';
import { nodeDns } from '@svc/outbound';
import { createRunTransport, runTaken } from '@svc/process';
import type { EndedRun } from '@svc/service';
import {
  bomb,
  drip,
  forever,
  head,
  type Mode,
  ok,
  startHostile,
} from '@svc/testkit/conformance/hostile-endpoint';
import { createAuthority } from '@svc/testkit/outbound/certificates';
import { type ConnectSpy, spyOnConnects } from '@svc/testkit/outbound/connect-spy';
import { addressesReply, type DnsServer, startDnsServer } from '@svc/testkit/outbound/dns-server';
import { startHttpsHost } from '@svc/testkit/outbound/hosts';
import { HOST_ADDRESS, worldOf } from '@svc/testkit/outbound/world';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';

const IDENTITY = {
  baseUrl: 'https://svc.example',
  statusBaseUrl: 'https://lists.example',
  domain: 'svc.example',
};
const BOMB = bomb();
/** A few vectors of each op, so that a few requests cover each mode. */
const all = readVectorSet();
const vectors = {
  ...all,
  cases: CASE_OPS.flatMap((op) => all.cases.filter((one) => one.op === op).slice(0, 40)),
};

interface Given {
  readonly transport: Transport;
  readonly endpoint?: string;
  readonly requestMs?: number;
  readonly prolong?: () => Promise<boolean>;
}

const run = async ({
  transport,
  endpoint = 'https://engine.example/',
  requestMs = 10_000,
  prolong,
}: Given) => {
  const stored: EndedRun[] = [];
  const ran = await runTaken(
    {
      runs: {
        prolong: prolong ?? (async () => true),
        finish: async (_, ended) => stored.push(ended) > 0,
      },
      vectors,
      transport,
      limits: { requestMs },
      ...(prolong && { prolongEveryMs: 1 }),
    },
    { runId: 'cfr_1', endpoint, lease: 'lease' },
    new AbortController().signal,
  );
  return { ran, stored, ended: stored[0] };
};

describe('a conformance run', () => {
  const ADDRESSES: Readonly<Record<string, readonly string[]>> = {
    'loopback.example': ['127.0.0.1'],
    'private.example': ['10.1.2.3'],
    'metadata.example': ['169.254.169.254'],
    'half.example': [HOST_ADDRESS, '192.168.0.1'],
    'loopback6.example': ['::1'],
    'mapped6.example': ['::ffff:127.0.0.1'],
    'alias.example': [HOST_ADDRESS],
    'svc.example': [HOST_ADDRESS],
  };
  let dnsServer: DnsServer;
  let spy: ConnectSpy;
  beforeAll(async () => {
    dnsServer = await startDnsServer((question) => {
      if (question.name === 'moving.example')
        return addressesReply(question, [question.nth === 0 ? HOST_ADDRESS : '127.0.0.1'], 0);
      return addressesReply(question, ADDRESSES[question.name] ?? []);
    });
    spy = spyOnConnects();
  });
  afterAll(async () => {
    spy.restore();
    await dnsServer.close();
  });
  const dns = () => nodeDns({ servers: [dnsServer.server], timeoutMs: 500 });
  const production = { env: 'production', outboundMap: null } as const;

  it.each([
    ['loopback.example', 'loopback'],
    ['private.example', 'private use'],
    ['metadata.example', 'link local'],
    ['half.example', 'private use'],
    ['loopback6.example', 'outside global unicast'],
    ['mapped6.example', 'outside global unicast'],
    ['alias.example', 'a host of the service itself'],
  ])('against %s makes no connection', async (name, why) => {
    spy.clear();
    const transport = createRunTransport(production, IDENTITY, dns());
    const { ended } = await run({ transport, endpoint: `https://${name}/` });
    expect(ended).toMatchObject({ status: 'error', error: expect.stringContaining(why) });
    expect(spy.connects).toEqual([]);
  });

  it('against moving.example, which resolves to loopback after the first request, makes no further connection', async () => {
    const authority = await createAuthority();
    const engine = createOwnEngine();
    const host = await startHttpsHost(
      await authority.issue(['moving.example']),
      async (request, response) => {
        let text = '';
        for await (const chunk of request) text += String(chunk);
        const limits = { maxRequestBytes: 1_048_576, maxCases: 1000 };
        const { text: answer } = await answerRequest(text, engine, limits);
        response.end(answer);
      },
    );
    onTestFinished(() => host.close());
    const { outbound } = worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint }, { dns: dns() });
    spy.clear();
    const { ended } = await run({ transport: outbound, endpoint: 'https://moving.example/' });
    expect(ended).toMatchObject({ status: 'error', error: '3 requests in a row had no answer', requests: 1 });
    expect(ended?.reportText).toContain('an address that is not public (loopback)');
    expect(spy.connects).toEqual([`127.0.0.1:${host.endpoint.port}`]);
  });
});

describe('a conformance run fails, with a report of at most 1 MiB, against an endpoint that is honest about itself and then', () => {
  const chunked = { 'transfer-encoding': 'chunked' };
  const body =
    (change: (right: string) => string | Buffer): Mode =>
    (socket, right) =>
      ok(socket, change(right));
  const MODES: Readonly<Record<string, readonly [answers: 'silent' | 'wrong', mode: Mode]>> = {
    'never answers': ['silent', () => {}],
    'drips a body': [
      'silent',
      (socket, right) => {
        socket.write(head('200 OK', { 'content-length': right.length }));
        drip(socket, right);
      },
    ],
    'drips chunks': [
      'silent',
      (socket) => {
        socket.write(head('200 OK', chunked));
        drip(socket, '1\r\n \r\n');
      },
    ],
    'closes at once': ['silent', (socket) => socket.end()],
    'resets the connection': ['silent', (socket) => socket.resetAndDestroy()],
    'sends headers without end': [
      'silent',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        forever(socket, `x-a: ${'b'.repeat(1000)}\r\n`);
      },
    ],
    'sends a body without end': [
      'wrong',
      (socket) => {
        socket.write(head('200 OK', chunked));
        forever(socket, `10000\r\n${' '.repeat(65_536)}\r\n`);
      },
    ],
    'sends a gzip bomb': ['wrong', (socket) => ok(socket, BOMB, { 'content-encoding': 'gzip' })],
    'redirects to a loopback address': [
      'wrong',
      (socket) =>
        socket.end(head('307 Temporary Redirect', { 'content-length': 0, location: 'http://127.0.0.1:1/' })),
    ],
    'sends a million nested arrays': ['wrong', body(() => '['.repeat(1_000_000))],
    'sends half an answer': ['wrong', body((right) => right.slice(0, right.length / 2))],
    'sends null': ['wrong', body(() => 'null')],
    'answers each case with a long error': [
      'wrong',
      body((right) => {
        const { results, ...rest } = JSON.parse(right) as { results: { id: string }[] };
        return JSON.stringify({
          ...rest,
          results: results.map(({ id }) => ({ id, error: '💥'.repeat(1000) })),
        });
      }),
    ],
  };

  it.each(Object.entries(MODES))('%s', async (_, [answers, mode]) => {
    const endpoint = await startHostile(vectors, mode, { isHonestFirst: true });
    onTestFinished(() => endpoint.close());
    const hosts = { 'engine.example': endpoint.url.replace(/\/$/, '') };
    const transport = createRunTransport({ env: 'development', outboundMap: { hosts, txt: {} } }, IDENTITY);
    const requestMs = answers === 'silent' ? 300 : 10_000;
    const { ran, ended } = await run({ transport, requestMs });
    // A misbehaving endpoint fails the run; `error` is only for what the guard refuses.
    expect(ran.outcome).toBe('failed');
    expect(ended?.error).toBe(answers === 'silent' ? '3 requests in a row had no answer' : null);
    const text = ended?.reportText ?? '';
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1_048_576);
    expect(JSON.parse(text)).toMatchObject({
      status: 'failed',
      totals: { passed: 0, cases: vectors.cases.length },
    });
  });
});

describe('a conformance run whose lease', () => {
  const silent: Transport = { post: () => new Promise(() => {}) };

  it('is lost stops during a request, and stores nothing', async () => {
    const { ran, stored } = await run({ transport: silent, prolong: async () => false });
    expect(ran).toMatchObject({ outcome: 'lost', requests: 1 });
    expect(stored).toEqual([]);
  });

  it('cannot be prolonged for a while continues', async () => {
    let failures = 0;
    const prolong = async () => {
      failures += 1;
      if (failures <= 3) throw new Error('no storage');
      return false;
    };
    const { ran } = await run({ transport: silent, prolong });
    expect([ran.outcome, failures]).toEqual(['lost', 4]);
  });
});
