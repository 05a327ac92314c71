import { once } from 'node:events';
import { connect } from 'node:net';
import { errorBody } from '@svc/contract';
import { describe, expect, it } from 'vitest';
import { startService, TOKENS } from '../../test/world/http-fixture.ts';

/** The parts of one raw answer. */
const parse = (text: string) => {
  const [head = '', body = ''] = text.split('\r\n\r\n');
  const [line = '', ...headers] = head.split('\r\n');
  return { status: Number(line.split(' ')[1]), headers: headers.join('\n').toLowerCase(), body };
};

const expectRefusal = (text: string, status: number) => {
  const answer = parse(text);
  expect(answer.status).toBe(status);
  expect(answer.headers).toMatch(/svc-request-id: \S+/);
  expect(answer.headers).toContain('x-content-type-options: nosniff');
  expect(errorBody.parse(JSON.parse(answer.body)).error).toBe('INVALID_REQUEST');
};

describe('A malformed HTTP request', () => {
  it.each([
    ['text that is not HTTP', 'hello\r\n\r\n'],
    ['two lengths', 'POST /verify HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    [
      'a length and chunks',
      'POST /verify HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['a space before a colon', 'GET /healthz HTTP/1.1\r\nHost : x\r\n\r\n'],
    ['a bare carriage return in a header', 'GET /healthz HTTP/1.1\r\nHost: x\r\nA: b\rC: d\r\n\r\n'],
    ['20,000 bytes of headers', `GET /healthz HTTP/1.1\r\nHost: x\r\nA: ${'a'.repeat(20_000)}\r\n\r\n`],
    ['no Host', 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
    ['two Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nhost: y\r\n\r\n'],
    [
      'two Hosts far apart',
      `GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${'a:\r\n'.repeat(2_000)}Host: y\r\n\r\n`,
    ],
    ['two equal Hosts', 'GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\nHost: x\r\n\r\n'],
    [
      'an unknown expectation',
      'POST /verify HTTP/1.1\r\nHost: x\r\nConnection: close\r\nExpect: miracles\r\n\r\n',
    ],
  ])('with %s is a 400 with an Error body and a request id', async (_name, bytes) => {
    const { raw } = await startService();
    expectRefusal(await raw(bytes), 400);
  });

  it('whose headers do not arrive in time is a 400', async () => {
    const { raw } = await startService({
      limits: { headersTimeoutMs: 60, requestTimeoutMs: 120, timeoutCheckMs: 20 },
    });
    expectRefusal(await raw('GET /healthz HTTP/1.1\r\nHost: x\r\n'), 400);
  });

  it('whose body does not arrive in time is a 400', async () => {
    const { raw } = await startService({
      limits: { headersTimeoutMs: 60, requestTimeoutMs: 120, timeoutCheckMs: 20 },
    });
    for (const path of ['/verify', '/verify?'])
      expectRefusal(
        await raw(
          `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.rp}\r\nContent-Length: 9\r\n\r\n{`,
        ),
        400,
      );
  });

  it('that was answered already gets no second answer when its body does not end', async () => {
    const { raw } = await startService({
      limits: { headersTimeoutMs: 60, requestTimeoutMs: 120, timeoutCheckMs: 20 },
    });
    const seen = await raw('POST /verify HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{');
    expect(seen.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });
});

describe('Expect: 100-continue', () => {
  const head = (length: number) =>
    `POST /verify HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${TOKENS.rp}\r\nExpect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`;

  it('is answered with 100 before the body is read', async () => {
    const { raw } = await startService();
    expect(await raw(head(2), '{}')).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
  });

  it('is answered with 413 at once if the body would be too large', async () => {
    const { port } = await startService();
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    socket.write(head(70_000));
    const [chunk] = await once(socket, 'data');
    socket.destroy();
    expect(chunk).toMatch(/^HTTP\/1\.1 413 /);
  });
});

it('Requests on one connection are answered in order, and errors do not close the connection', async () => {
  const { raw } = await startService();
  const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${more}\r\n`;
  const seen = await raw(
    get('/healthz') + get('/nothing') + get('/me') + get('/healthz', 'Connection: close\r\n'),
  );
  expect(seen.match(/HTTP\/1\.1 \d+/g)).toEqual([
    'HTTP/1.1 200',
    'HTTP/1.1 404',
    'HTTP/1.1 401',
    'HTTP/1.1 200',
  ]);
});

const deferred = () => {
  let resolve: () => void = () => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
};

describe('Connections of one address', () => {
  const open = async (port: number) => {
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    await once(socket, 'connect');
    return socket;
  };
  /** The status; 'closed' if the connection is closed without an answer. */
  const ask = async (socket: Awaited<ReturnType<typeof open>>) => {
    const closed = once(socket, 'close').then(() => ['HTTP/1.1 closed']);
    socket.on('error', () => {}).write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
    const [text] = await Promise.race([once(socket, 'data'), closed]);
    return String(text).slice(9, 15).trim().split(' ')[0];
  };

  it('are bounded: one more is closed at once, the open ones continue, and a closed one makes room', async () => {
    const { port, registry } = await startService({ limits: { connectionsPerAddress: 2 } });
    const [first, second] = [await open(port), await open(port)];
    expect([await ask(first), await ask(second)]).toEqual(['200', '200']);
    expect(await ask(await open(port))).toBe('closed');
    expect(await registry.metrics()).toContain('svc_http_connections_refused_total 1');
    expect([await ask(first), await ask(second)]).toEqual(['200', '200']);
    second.destroy();
    // The server notices the end a moment later.
    while ((await ask(await open(port))) !== '200');
    first.destroy();
  });

  it('are not bounded behind a configured proxy', async () => {
    const { port } = await startService({
      deps: { trustProxyHops: 1 },
      limits: { connectionsPerAddress: 1 },
    });
    const sockets = [await open(port), await open(port), await open(port)];
    expect(await Promise.all(sockets.map(ask))).toEqual(['200', '200', '200']);
    for (const socket of sockets) socket.destroy();
  });
});

describe('The shutdown', () => {
  const gated = async (limits = {}) => {
    const released = deferred();
    const started = deferred();
    const service = await startService({
      limits,
      handlers: {
        getHealth: async () => {
          started.resolve();
          await released.promise;
          return { status: 200, body: { ok: true } };
        },
      },
    });
    return { ...service, release: released.resolve, started: started.promise };
  };

  it('completes running requests with Connection: close, and accepts no new connection', async () => {
    const { service, call, release, started, base } = await gated();
    const slow = call('GET', '/healthz');
    await started;
    expect(service.isDraining()).toBe(false);
    const down = service.shutdown();
    expect(service.isDraining()).toBe(true);
    await expect(fetch(base)).rejects.toThrow();
    release();
    const answer = await slow;
    expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
    expect(await down).toEqual({ connectionsCut: 0 });
  });

  it('answers a request that arrives on a kept-alive connection within the grace time', async () => {
    const { service, port } = await startService({ limits: { idleGraceMs: 20_000 } });
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    const get = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n';
    socket.write(get);
    expect((await once(socket, 'data'))[0]).toMatch(/^HTTP\/1\.1 200 [\s\S]*keep-alive/i);
    const down = service.shutdown();
    socket.write(get);
    expect((await once(socket, 'data'))[0]).toMatch(/^HTTP\/1\.1 200 [\s\S]*Connection: close/i);
    expect(await down).toEqual({ connectionsCut: 0 });
  });

  it('closes idle connections after the grace time', async () => {
    const { service, port } = await startService();
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'connect');
    socket.resume();
    const closed = once(socket, 'close');
    expect(await service.shutdown()).toEqual({ connectionsCut: 0 });
    await closed;
  });

  it('cuts the remaining connections at the deadline and returns their number', async () => {
    const { service, call, started, release } = await gated({ idleGraceMs: 10, shutdownDeadlineMs: 60 });
    const lost = expect(call('GET', '/healthz')).rejects.toThrow();
    await started;
    expect(await service.shutdown()).toEqual({ connectionsCut: 1 });
    await lost;
    release();
  });

  it('waits up to the given time instead of the deadline when one is given', async () => {
    const { service, call, started, release } = await gated({ idleGraceMs: 1, shutdownDeadlineMs: 1 });
    const answered = call('GET', '/healthz');
    await started;
    const down = service.shutdown(60_000);
    await new Promise((resolve) => setTimeout(resolve, 20));
    release();
    expect((await answered).status).toBe(200);
    expect(await down).toEqual({ connectionsCut: 0 });
  });

  it('waits only until the usual deadline once its signal aborts, also if it has aborted before', async () => {
    for (const isFromTheStart of [false, true]) {
      const { service, call, started, release } = await gated({ idleGraceMs: 1, shutdownDeadlineMs: 10 });
      const lost = expect(call('GET', '/healthz')).rejects.toThrow();
      await started;
      const hurrying = new AbortController();
      if (isFromTheStart) hurrying.abort();
      const down = service.shutdown(60_000, hurrying.signal);
      hurrying.abort();
      expect(await down).toEqual({ connectionsCut: 1 });
      await lost;
      release();
    }
  });
});
