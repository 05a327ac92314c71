import { createHash } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { TLSSocket, TlsOptions } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { DAY_MS } from '@svc/protocol';
import type { Tenant } from '@svc/service';
import { createAuthority, type Leaf, type TestAuthority } from '@svc/testkit/outbound/certificates';
import {
  closedEndpoint,
  startHttpHost,
  startHttpsHost,
  startRawTlsHost,
  startTcpHost,
  type TestHost,
} from '@svc/testkit/outbound/hosts';
import { addresses, HOST_ADDRESS, OTHER_ADDRESS, tableDns, worldOf } from '@svc/testkit/outbound/world';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AddressAnswer } from '../src/dns.ts';
import { createOutbound } from '../src/outbound.ts';

const URL_TEXT = 'https://acme.example/dir/did.json?v=1';

let authority: TestAuthority;
let leaf: Leaf;
const hosts: TestHost[] = [];

const keep = async (starting: Promise<TestHost>): Promise<TestHost> => {
  const host = await starting;
  hosts.push(host);
  return host;
};

/** A guard for which acme.example is an HTTPS host with this handler. */
const serving = async (handler: RequestListener, servedLeaf: Leaf = leaf) => {
  const host = await keep(startHttpsHost(servedLeaf, handler));
  return { host, ...worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint }) };
};

/** A guard for which acme.example speaks TLS and then sends these bytes. */
const saying = async (talk: (socket: Socket) => void) => {
  const host = await keep(startRawTlsHost(leaf, talk));
  return { host, ...worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint }) };
};

beforeAll(async () => {
  authority = await createAuthority();
  leaf = await authority.issue(['acme.example']);
});
afterEach(() => Promise.all(hosts.splice(0).map((host) => host.close())));

describe('a request', () => {
  it('opens one connection, to the checked address, and sends only the headers that it needs', async () => {
    const seen: IncomingMessage[] = [];
    const { outbound, host, checked } = await serving((request, response) => {
      seen.push(request);
      response
        .setHeader('content-type', 'application/did+json')
        .setHeader('set-cookie', 'a=b')
        .end('{"ä":1}');
    });
    const answer = await outbound.get(URL_TEXT, { accept: 'application/did+json' });
    expect(answer).toEqual({
      kind: 'answered',
      status: 200,
      contentType: 'application/did+json',
      retryAfter: null,
      body: new TextEncoder().encode('{"ä":1}'),
    });
    await outbound.get(URL_TEXT);
    expect(checked).toEqual(Array(2).fill({ address: HOST_ADDRESS, port: 443 }));
    expect(host.accepted()).toBe(2);
    expect(seen[0]).toMatchObject({ method: 'GET', url: '/dir/did.json?v=1', httpVersion: '1.1' });
    for (const request of seen)
      expect(Object.keys(request.headers).sort()).toEqual(
        ['accept', 'accept-encoding', 'connection', 'host', 'user-agent'].sort(),
      );
    expect(seen[1]?.headers).toMatchObject({
      host: 'acme.example',
      connection: 'close',
      'accept-encoding': 'identity',
    });
  });

  it('posts JSON text', async () => {
    const { outbound } = await serving(async (request, response) => {
      const chunks = await request.toArray();
      response.end(
        JSON.stringify([request.method, request.headers['content-type'], `${Buffer.concat(chunks)}`]),
      );
    });
    const answer = await outbound.post(URL_TEXT, '{"op":"describe"}');
    expect(answer.kind === 'answered' && JSON.parse(Buffer.from(answer.body).toString())).toEqual([
      'POST',
      'application/json',
      '{"op":"describe"}',
    ]);
  });

  it.each([301, 302, 303, 307, 308])('does not follow a redirect with status %d', async (status) => {
    let requests = 0;
    const { outbound } = await serving((_request, response) => {
      requests += 1;
      response.writeHead(status, { location: 'https://acme.example/elsewhere' }).end('x');
    });
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'answered', status });
    expect(requests).toBe(1);
  });

  it.each([400, 404, 500, 503])('returns status %d without reading the body', async (status) => {
    const { outbound } = await serving((_request, response) => {
      // Endless, and larger than any limit: reading it would end in a deadline or in `too-large`.
      response.writeHead(status).write(Buffer.alloc(1 << 20));
    });
    expect(await outbound.get(URL_TEXT)).toMatchObject({
      kind: 'answered',
      status,
      body: new Uint8Array(0),
    });
  });

  it('enforces the size cap to the byte, with and without Content-Length', async () => {
    const { outbound } = await serving(({ url = '' }: IncomingMessage, response: ServerResponse) => {
      const [, length = '', how = ''] = url.split('/');
      const body = Buffer.alloc(Number(length), 'x');
      if (how === 'announced') response.setHeader('content-length', body.length).end(body);
      else for (let i = 0; i <= body.length; i += 5000) response.write(body.subarray(i, i + 5000));
      response.end();
    });
    for (const how of ['announced', 'chunked']) {
      const full = await outbound.get(`https://acme.example/65536/${how}`);
      expect(full.kind === 'answered' && full.body.length).toBe(65_536);
      const over = await outbound.get(`https://acme.example/65537/${how}`);
      expect(over).toMatchObject({ kind: 'unreachable', fault: 'too-large' });
      expect(await outbound.get(`https://acme.example/11/${how}`, { maxBytes: 10 })).toMatchObject({
        fault: 'too-large',
      });
    }
  });

  it('limits the number of chunks of a body too, whatever their total size', async () => {
    const { outbound } = await saying((socket) =>
      socket.end(
        `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(30_000)}0\r\n\r\n`,
      ),
    );
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'unreachable', fault: 'too-large' });
  });

  it('ends an endless body as too large', async () => {
    const { outbound, host } = await serving((_request, response) => {
      const pour = (): void => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536)));
      };
      response.on('drain', pour);
      pour();
    });
    expect(await outbound.get(URL_TEXT)).toMatchObject({ fault: 'too-large' });
    expect(host.accepted()).toBe(1);
  });

  it.each(['gzip', 'br', 'deflate', 'identity, gzip', 'x'])('refuses Content-Encoding %s', async (coding) => {
    const { outbound } = await serving((_request, response) => {
      response.setHeader('content-encoding', coding).end(gzipSync('{}'));
    });
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'unreachable', fault: 'encoding' });
  });

  it('accepts Content-Encoding identity', async () => {
    const { outbound } = await serving((_request, response) => {
      response.setHeader('content-encoding', 'Identity').end('{}');
    });
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'answered', status: 200 });
  });
});

describe('hostile HTTP:', () => {
  const head = 'HTTP/1.1 200 OK\r\n';
  const hostile: [string, string][] = [
    ['nothing', ''],
    ['no HTTP', 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['HTTP/2 preface', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['half a head', 'HTTP/1.1 200 OK\r\ncontent-'],
    ['a bad status', 'HTTP/1.1 2x0 OK\r\n\r\n'],
    ['a shorter body than announced', `${head}content-length: 10\r\n\r\n12345`],
    ['two lengths', `${head}content-length: 2\r\ncontent-length: 3\r\n\r\n{}1`],
    ['a negative length', `${head}content-length: -1\r\n\r\n{}`],
    ['a length beyond numbers', `${head}content-length: 99999999999999999999999\r\n\r\n{}`],
    [
      'length and chunks',
      `${head}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    ],
    ['chunks that break off', `${head}transfer-encoding: chunked\r\n\r\n5\r\n{`],
    ['a bad chunk length', `${head}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`],
    ['a coded transfer', `${head}transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`],
    ['a coded transfer to the end', `${head}transfer-encoding: gzip\r\n\r\n{}`],
    ['headers without end', `${head}${'x-filler: 0123456789abcdef\r\n'.repeat(2000)}`],
    ['one long header', `${head}x: ${'y'.repeat(20_000)}\r\n\r\n`],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'],
    ['a NUL in a header', `${head}x: a\0b\r\n\r\n`],
  ];
  it.each(hostile)('%s is a fault, not an exception', async (_title, bytes) => {
    const { outbound, host } = await saying((socket) => socket.end(bytes));
    const answer = await outbound.get(URL_TEXT);
    expect(answer.kind === 'unreachable' && ['protocol', 'encoding'].includes(answer.fault)).toBe(true);
    expect(host.accepted()).toBe(1);
  });

  const hint = 'HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n';
  const extended = `${head}transfer-encoding: chunked\r\n\r\n1;`;
  it.each([
    ['hints', '', hint.repeat(2_000), 'protocol'],
    ['an extension of a chunk', extended, 'a'.repeat(65_536), 'too-large'],
  ])(
    '%s without end are cut off at once, whoever asks, and not at the deadline',
    async (_, first, again, fault) => {
      const { outbound } = await saying((socket) => {
        socket.on('error', () => {});
        const pour = (): void => {
          while (!socket.destroyed && socket.write(again));
        };
        socket.on('drain', pour);
        socket.write(first);
        pour();
      });
      // With this deadline the test ends in time only if something else ends the exchange.
      const timeoutMs = 600_000;
      expect(await outbound.get(URL_TEXT, { timeoutMs })).toMatchObject({ kind: 'unreachable', fault });
      if (first === '')
        expect(await outbound.post(URL_TEXT, '{}', { timeoutMs, maxBytes: null })).toMatchObject({ fault });
    },
  );

  it('the overhead of TLS records counts against the cap, however small the answer is', async () => {
    const { outbound } = await saying((socket) => {
      // One record for each byte, which adds 22 bytes on the wire.
      const dripAll = (rest: string): unknown =>
        rest === '' ? socket.end() : socket.write(rest.slice(0, 1), () => dripAll(rest.slice(1)));
      dripAll(`${head}content-length: 2\r\nx: ${'y'.repeat(8000)}\r\n\r\n{}`);
    });
    expect(await outbound.get(URL_TEXT, { maxBytes: 10, timeoutMs: 10_000 })).toMatchObject({
      kind: 'unreachable',
      fault: 'too-large',
    });
  });

  it('eight interim 103 answers before the final one are accepted', async () => {
    const { outbound } = await saying((socket) =>
      socket.end(`${hint.repeat(8)}${head}content-length: 2\r\n\r\n{}`),
    );
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('bytes after the answer are ignored', async () => {
    const { outbound } = await saying((socket) =>
      socket.end(`${head}content-length: 2\r\n\r\n{}HTTP/1.1 500 no\r\ncontent-length: 0\r\n\r\n`),
    );
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('a connection that the host closes without an answer is a fault', async () => {
    const { outbound } = await saying((socket) => socket.destroy());
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'unreachable', fault: 'protocol' });
  });
});

describe('deadline and concurrency:', () => {
  const drip = (socket: Socket, every: string, ms = 20): void => {
    const timer = setInterval(() => socket.write(every), ms);
    socket.on('close', () => clearInterval(timer));
  };
  const slow: [string, (socket: Socket) => void][] = [
    ['silence', () => {}],
    [
      'a dripping head',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\n');
        drip(socket, 'x: y\r\n');
      },
    ],
    [
      'a dripping body',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 60000\r\n\r\n');
        drip(socket, 'x');
      },
    ],
    ['slow hints', (socket) => drip(socket, 'HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n', 60)],
  ];
  it.each(slow)('the deadline covers %s', async (_title, talk) => {
    const { outbound } = await saying(talk);
    expect(await outbound.get(URL_TEXT, { timeoutMs: 250 })).toMatchObject({
      kind: 'unreachable',
      fault: 'deadline',
    });
  });

  it('the deadline closes the connection', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const { outbound } = await saying((socket) => {
      // A reset closes it too.
      closed = new Promise((resolve) => socket.on('close', resolve));
    });
    await outbound.get(URL_TEXT, { timeoutMs: 250 });
    await closed;
  });

  it('the deadline covers a TLS handshake that never ends, and closes its connection', async () => {
    let closed: Promise<unknown> = Promise.resolve();
    const host = await keep(
      startTcpHost((socket) => {
        closed = new Promise((resolve) => socket.on('close', resolve));
        socket.resume();
      }),
    );
    const { outbound } = worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint });
    expect(await outbound.get(URL_TEXT, { timeoutMs: 250 })).toMatchObject({ fault: 'deadline' });
    await closed;
  });

  it('the deadline covers a resolver that never answers and so keeps its place', async () => {
    const stuck = () => new Promise<never>(() => {});
    const dns = { addresses: stuck, txt: stuck };
    const { outbound, checked } = worldOf(authority.ca, {}, { dns, maxConcurrent: 1 });
    expect(await outbound.get(URL_TEXT, { timeoutMs: 100 })).toMatchObject({ fault: 'deadline' });
    // The stuck question still holds the only place; the next one waits in vain and does not get a second place.
    expect(await outbound.resolveTxt('acme.example', { timeoutMs: 100 })).toMatchObject({
      fault: 'deadline',
    });
    expect(checked).toEqual([]);
  });

  it('an answer of the resolver after the deadline leads to no connection', async () => {
    let answer: (value: AddressAnswer) => void = () => {};
    const dns = {
      ...tableDns(),
      addresses: () =>
        new Promise<AddressAnswer>((resolve) => {
          answer = resolve;
        }),
    };
    const { outbound, checked } = worldOf(authority.ca, {}, { dns });
    expect(await outbound.get(URL_TEXT, { timeoutMs: 50 })).toMatchObject({ fault: 'deadline' });
    answer(addresses(HOST_ADDRESS));
    await new Promise(setImmediate);
    expect(checked).toEqual([]);
  });

  it('requests beyond the places and the queue are refused as busy', async () => {
    const routes = { [HOST_ADDRESS]: await closedEndpoint() };
    const { outbound } = worldOf(authority.ca, routes, { maxConcurrent: 1 });
    const answers = await Promise.all(Array.from({ length: 8 }, () => outbound.get(URL_TEXT)));
    const faults = answers.map((answer) => (answer.kind === 'unreachable' ? answer.fault : answer.kind));
    expect(faults.filter((fault) => fault === 'busy').length).toBe(3);
    expect(faults.filter((fault) => fault === 'connect').length).toBe(5);
  });

  it('a tenant has at most a tenth of the places, so have all newcomers together, and other tenants are still served', async () => {
    const asked: (string | undefined)[] = [];
    const host = await keep(
      startHttpsHost(leaf, ({ url }, response) => {
        asked.push(url);
        if (url === '/answers') response.end('{}');
      }),
    );
    const { outbound } = worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint }, { maxConcurrent: 20 });
    const tenant = (crowd: Tenant['crowd'], org: string): Tenant => ({ crowd, org, subject: org });
    const silent = [
      ...Array.from({ length: 20 }, () => tenant('tenants', 'hostile')),
      ...Array.from({ length: 20 }, (_, i) => tenant('newcomers', `newcomer ${i}`)),
    ].map((one) => outbound.as(one).get('https://acme.example/silent', { timeoutMs: 1_000 }));
    const answers = await Promise.all(
      ['one', 'other'].map((org) => outbound.as(tenant('tenants', org)).get('https://acme.example/answers')),
    );
    expect(answers).toMatchObject([{ kind: 'answered' }, { kind: 'answered' }]);
    expect(asked.filter((path) => path === '/silent').length).toBeLessThanOrEqual(4);
    await Promise.all(silent);
  });
});

describe('TLS verification', () => {
  const ok: RequestListener = (_request, response) => void response.end('{}');

  it.each([
    ['another host', () => authority.issue(['other.example'])],
    ['a sibling host', () => authority.issue(['www.acme.example'])],
    ['a wildcard of a top-level name', () => authority.issue(['*.example'])],
    ['another authority', async () => (await createAuthority()).issue(['acme.example'])],
    [
      'expired',
      () =>
        authority.issue(['acme.example'], {
          from: new Date(Date.now() - 20 * DAY_MS),
          to: new Date(Date.now() - DAY_MS),
        }),
    ],
    [
      'not yet valid',
      () =>
        authority.issue(['acme.example'], {
          from: new Date(Date.now() + DAY_MS),
          to: new Date(Date.now() + 20 * DAY_MS),
        }),
    ],
  ])('refuses a certificate (%s), and no request is sent', async (_title, issue) => {
    let requests = 0;
    const { outbound } = await serving(
      () => {
        requests += 1;
      },
      await issue(),
    );
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'unreachable', fault: 'tls' });
    expect(requests).toBe(0);
  });

  it('cannot be turned off by NODE_TLS_REJECT_UNAUTHORIZED', async () => {
    const { outbound } = await serving(ok, await authority.issue(['other.example']));
    process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0';
    try {
      expect(await outbound.get(URL_TEXT)).toMatchObject({ fault: 'tls' });
    } finally {
      delete process.env.NODE_TLS_REJECT_UNAUTHORIZED;
    }
  });

  it('refuses finite-field Diffie-Hellman, whose length the host would choose', async () => {
    const rsa = await createAuthority('rsa');
    const prime: TlsOptions = {
      ciphers: 'DHE-RSA-AES128-GCM-SHA256',
      dhparam: 'auto',
      maxVersion: 'TLSv1.2',
    };
    const group: TlsOptions = { ecdhCurve: 'ffdhe8192', minVersion: 'TLSv1.3' };
    for (const [ca, served, settings] of [
      [rsa.ca, await rsa.issue(['acme.example']), prime],
      [authority.ca, leaf, group],
    ] as const) {
      const host = await keep(startHttpsHost(served, ok, settings));
      const { outbound } = worldOf(ca, { [HOST_ADDRESS]: host.endpoint });
      expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'unreachable', fault: 'tls' });
    }
  });

  it('accepts a host with TLS 1.2, but no renegotiation', async () => {
    const answerAfter = async (prepare: (socket: TLSSocket, then: () => void) => void, timeoutMs = 3000) => {
      const talk = (socket: TLSSocket) =>
        prepare(socket, () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}'));
      const host = await keep(startRawTlsHost(leaf, talk, { maxVersion: 'TLSv1.2' }));
      const { outbound } = worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint });
      return outbound.get(URL_TEXT, { timeoutMs });
    };
    expect(await answerAfter((_socket, then) => then())).toMatchObject({ kind: 'answered', status: 200 });
    const again = (socket: TLSSocket, then: () => void) =>
      socket.renegotiate({ rejectUnauthorized: false }, (error) => error ?? then());
    expect(await answerAfter(again, 250)).toMatchObject({ kind: 'unreachable' });
  });

  it('accepts a chain of 5 certificates and refuses one of 101', async () => {
    const askWith = async (copies: number) => {
      const cert = [leaf.cert, ...Array(copies).fill(authority.ca)].join('\n');
      const { outbound } = await serving(ok, { ...leaf, cert });
      return outbound.get(URL_TEXT);
    };
    expect(await askWith(4)).toMatchObject({ kind: 'answered' });
    expect(await askWith(100)).toMatchObject({ kind: 'unreachable', fault: 'tls' });
  });

  it('refuses the test host where the test authority is not trusted', async () => {
    const host = await keep(startHttpsHost(leaf, ok));
    const outbound = createOutbound(
      { mode: 'production', outboundMap: null, dns: tableDns() },
      { connectTo: () => host.endpoint },
    );
    expect(await outbound.get(URL_TEXT)).toMatchObject({ fault: 'tls' });
  });

  it('fails with fault tls where a host speaks plain HTTP on port 443', async () => {
    const host = await keep(startHttpHost(ok));
    const { outbound } = worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint });
    expect(await outbound.get(URL_TEXT)).toMatchObject({ fault: 'tls' });
  });
});

describe('address lookup:', () => {
  it('the next address is tried when one refuses the connection', async () => {
    const host = await keep(startHttpsHost(leaf, (_request, response) => void response.end('{}')));
    const { outbound } = worldOf(
      authority.ca,
      { [HOST_ADDRESS]: await closedEndpoint(), [OTHER_ADDRESS]: host.endpoint },
      { dns: tableDns({ 'acme.example': addresses(HOST_ADDRESS, OTHER_ADDRESS) }) },
    );
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('a refused connection is the fault connect', async () => {
    const { outbound } = worldOf(authority.ca, { [HOST_ADDRESS]: await closedEndpoint() });
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'unreachable', fault: 'connect' });
  });

  it.each([
    ['absent', { kind: 'absent' }, 'no-address'],
    ['no addresses at all', addresses(), 'no-address'],
    ['a failure', { kind: 'unreachable', fault: 'dns', why: 'DNS: ESERVFAIL' }, 'dns'],
  ] as const)('DNS (%s) ends in a fault', async (_title, answer, fault) => {
    const { outbound } = worldOf(authority.ca, {}, { dns: tableDns({ 'acme.example': answer }) });
    expect(await outbound.get(URL_TEXT)).toMatchObject({ kind: 'unreachable', fault });
  });

  it('a host with more than 64 addresses is the fault dns', async () => {
    const host = await keep(startHttpsHost(leaf, (_request, response) => response.end('{}')));
    const askWith = (count: number) => {
      const dns = tableDns({ 'acme.example': addresses(...Array(count).fill(HOST_ADDRESS)) });
      return worldOf(authority.ca, { [HOST_ADDRESS]: host.endpoint }, { dns }).outbound.get(URL_TEXT);
    };
    expect(await askWith(64)).toMatchObject({ kind: 'answered' });
    expect(await askWith(65)).toMatchObject({ kind: 'unreachable', fault: 'dns' });
  });

  it('a refusal does not contain the address that the resolver returned', async () => {
    const dns = tableDns({ 'acme.example': addresses('10.11.12.13') });
    const { outbound } = worldOf(authority.ca, {}, { dns });
    const answer = await outbound.get(URL_TEXT);
    expect(answer).toMatchObject({ kind: 'refused', rule: 'address' });
    expect(JSON.stringify(answer)).not.toContain('10.11');
  });
});

describe('the outbound map', () => {
  it('is refused in production, and where a target is not a plain http origin on loopback', () => {
    const map = { hosts: {}, txt: {} };
    expect(() => createOutbound({ mode: 'production', outboundMap: map })).toThrow(RangeError);
    for (const base of [
      'http://10.0.0.1',
      'https://127.0.0.1',
      'http://127.0.0.1/x',
      'http://127.0.0.1:99999',
    ])
      expect(() =>
        createOutbound({ mode: 'development', outboundMap: { hosts: { 'acme.example': base }, txt: {} } }),
      ).toThrow(RangeError);
  });

  it('routes the hosts that it names to loopback, and answers TXT questions about them itself', async () => {
    const hash = createHash('sha256').update('token').digest('hex');
    const host = await keep(
      startHttpHost((request, response) => void response.end(`${request.headers.host}${request.url}`)),
    );
    const base = `http://localhost:${host.endpoint.port}`;
    const noDns = () => Promise.reject(new Error('DNS was asked'));
    const outbound = createOutbound({
      mode: 'development',
      outboundMap: {
        hosts: { 'acme.example': base, 'localhost:9443': base },
        txt: { '_svc-challenge.acme.example': [hash] },
      },
      dns: { addresses: noDns, txt: noDns },
    });
    const textOf = async (url: string) => {
      const answer = await outbound.get(url);
      return answer.kind === 'answered' ? Buffer.from(answer.body).toString() : answer;
    };
    expect(await textOf('https://acme.example/did.json')).toBe('acme.example/did.json');
    expect(await textOf('http://acme.example:8080/did.json')).toBe('acme.example:8080/did.json');
    expect(await textOf('https://localhost:9443/did.json')).toBe('localhost:9443/did.json');
    expect(await textOf('https://localhost/did.json')).toMatchObject({ kind: 'refused', rule: 'name' });
    expect(await textOf('ftp://acme.example/did.json')).toMatchObject({ kind: 'refused', rule: 'url' });
    expect(await outbound.resolveTxt('_svc-challenge.acme.example')).toEqual({
      kind: 'records',
      records: [hash],
    });
    expect(await outbound.resolveTxt('_other.acme.example')).toEqual({ kind: 'absent' });
    expect(await outbound.resolveTxt('_svc-challenge.localhost')).toEqual({ kind: 'absent' });
    await expect(outbound.resolveTxt('_svc-challenge.other.example')).rejects.toThrow('DNS was asked');
  });

  it('does not take inherited property names as hosts', async () => {
    const { outbound } = worldOf(
      authority.ca,
      { [HOST_ADDRESS]: await closedEndpoint() },
      { mode: 'development', outboundMap: { hosts: {}, txt: {} } },
    );
    expect(await outbound.get('https://constructor/')).toMatchObject({ kind: 'refused' });
    expect(await outbound.get('http://constructor/')).toMatchObject({ kind: 'refused' });
    expect(await outbound.get('http://__proto__/')).toMatchObject({ kind: 'refused' });
  });
});
