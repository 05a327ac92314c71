/**
 * Bodies that are produced while they are sent: a complete body arrives whole, and no work continues without its
 * reader.
 */
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { startService, TOKENS } from '../../test/world/http-fixture.ts';
import { ApiError } from './api-error.ts';

const PATH = '/decisions/export?format=csv';
const MEGABYTE = 'x'.repeat(1 << 20);
/** More parts than sockets buffer without a reader. */
const MANY = 64;

/** A body of `parts`, and the number of parts produced so far. */
const makeBody = (parts: () => AsyncIterable<string>) => {
  const state = { made: 0, ended: 0 };
  async function* body() {
    try {
      for await (const part of parts()) {
        state.made += 1;
        yield part;
      }
    } finally {
      state.ended += 1;
    }
  }
  return { state, stream: body() };
};

async function* manyMegabytes() {
  for (let i = 0; i < MANY; i++) yield MEGABYTE;
}

const start = (parts: () => AsyncIterable<string>, limits = {}) => {
  const { state, stream } = makeBody(parts);
  const contentType = 'text/csv; charset=utf-8; header=present' as const;
  const headers = { 'X-Svc-Rows': '2' };
  const exportDecisions = async () => ({ status: 200 as const, stream, contentType, headers });
  return startService({ handlers: { exportDecisions }, limits }).then((service) => ({ ...service, state }));
};

type Service = Awaited<ReturnType<typeof start>>;

/** Sends a request, and reads nothing of the body. */
const ask = async ({ port }: Service, method = 'GET') => {
  const sent: ClientRequest = request({
    port,
    method,
    path: PATH,
    headers: { authorization: `Bearer ${TOKENS.rp}` },
  }).end();
  sent.on('error', () => {});
  const [response]: IncomingMessage[] = await once(sent, 'response');
  if (response === undefined) throw new Error('no response');
  return { sent, response };
};

const readAll = async (response: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) text += chunk;
  return text;
};

describe('A streamed answer', () => {
  it('arrives whole, with the status and headers of the handler', async () => {
    const service = await start(async function* () {
      yield 'a,b\r\n';
      yield '"é","2"\r\n';
    });
    const { status, text, headers } = await service.call('GET', PATH, { token: TOKENS.rp });
    expect([status, text]).toEqual([200, 'a,b\r\n"é","2"\r\n']);
    expect(headers.get('x-svc-rows')).toBe('2');
    expect(headers.get('content-length')).toBeNull();
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('svc-request-id')).toMatch(/./);
    expect(service.state).toEqual({ made: 2, ended: 1 });
  });

  it('may be empty', async () => {
    const { call } = await start(async function* () {});
    expect((await call('GET', PATH, { token: TOKENS.rp })).text).toBe('');
  });

  it('is not produced for HEAD', async () => {
    const service = await start(manyMegabytes);
    const { response } = await ask(service, 'HEAD');
    expect([response.statusCode, await readAll(response)]).toEqual([200, '']);
    expect(service.state.made).toBe(0);
  });

  it('that fails before its first part is answered with the error’s status', async () => {
    const { call } = await start(() => ({
      [Symbol.asyncIterator]: () => ({
        next: () => Promise.reject(new ApiError('SERVICE_UNAVAILABLE', 'x')),
      }),
    }));
    expect((await call('GET', PATH, { token: TOKENS.rp })).status).toBe(503);
  });

  it('that fails later resets the connection, so that no client takes the part for the whole', async () => {
    const service = await start(async function* () {
      yield 'a,b\r\n';
      throw new Error('storage went away');
    });
    const reading = ask(service).then(({ response }) => readAll(response));
    await expect(reading).rejects.toMatchObject({ code: 'ECONNRESET' });
    await expect.poll(() => service.log.join('')).toContain('storage went away');
    await expect.poll(() => service.log.join('')).toMatch(/"route":"exportDecisions","status":0/);
  });

  it('that fails resets the connection of an HTTP/1.0 client too, for which the end of the connection is the end of the body', async () => {
    const service = await start(async function* () {
      yield 'a,b\r\n';
      throw new Error('storage went away');
    });
    const socket = connect(service.port, '127.0.0.1');
    socket.write(`GET ${PATH} HTTP/1.0\r\nAuthorization: Bearer ${TOKENS.rp}\r\n\r\n`);
    socket.resume();
    const [error] = await once(socket, 'error');
    expect(error).toMatchObject({ code: 'ECONNRESET' });
  });
});

describe('The reader of a streamed answer', () => {
  it('sets the pace: parts that it has not read are not produced', async () => {
    const service = await start(manyMegabytes);
    const { response } = await ask(service);
    await once(response, 'readable');
    let before = -1;
    await expect
      .poll(() => {
        const stands = service.state.made === before;
        before = service.state.made;
        return stands;
      })
      .toBe(true);
    expect(service.state.made).toBeLessThan(MANY);
    expect((await readAll(response)).length).toBe(MANY * MEGABYTE.length);
    expect(service.state).toEqual({ made: MANY, ended: 1 });
  });

  it('that disconnects ends the production', async () => {
    const service = await start(manyMegabytes);
    const { response } = await ask(service);
    await once(response, 'readable');
    response.destroy();
    await expect.poll(() => service.state.ended).toBe(1);
    expect(service.state.made).toBeLessThan(MANY);
    await expect.poll(() => service.log.join('')).toMatch(/"route":"exportDecisions","status":0/);
  });

  it('that reads slowly but steadily is cut at the time limit of the answer', async () => {
    const { state, stream } = makeBody(manyMegabytes);
    const contentType = 'text/csv; charset=utf-8; header=present' as const;
    const headers = { 'X-Svc-Rows': '2' };
    const exportDecisions = async () => ({
      status: 200 as const,
      stream,
      contentType,
      headers,
      streamMs: 50,
    });
    const service = { ...(await startService({ handlers: { exportDecisions } })), state };
    const { response } = await ask(service);
    const sip = setInterval(() => response.read(1), 5);
    try {
      await expect.poll(() => state.ended).toBe(1);
      expect(state.made).toBeLessThan(MANY);
      await expect(readAll(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
    } finally {
      clearInterval(sip);
    }
  });

  it('that reads nothing for too long is cut', async () => {
    const service = await start(manyMegabytes, { stalledClientMs: 50 });
    const { response } = await ask(service);
    await expect.poll(() => service.state.ended).toBe(1);
    await expect(readAll(response)).rejects.toMatchObject({ code: 'ECONNRESET' });
  });
});

it('The reader of an ordinary answer that reads nothing for too long is cut', async () => {
  const stats = { day: 'x'.repeat(1 << 26) };
  const getDecisionStats = async () => ({ status: 200 as const, body: stats as never });
  const service = await startService({ handlers: { getDecisionStats }, limits: { stalledClientMs: 50 } });
  const socket = connect(service.port, '127.0.0.1');
  socket.pause();
  socket.write(`GET /decisions/stats HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.rp}\r\n\r\n`);
  // The line is written when the connection is gone; nothing was read from it.
  await expect.poll(() => service.log.join('')).toContain('"route":"getDecisionStats"');
  let read = 0;
  socket.on('data', ({ length }) => {
    read += length;
  });
  socket.on('error', () => {});
  socket.resume();
  await once(socket, 'close');
  expect(read).toBeLessThan(stats.day.length);
});

describe('A streamed answer that waits behind another one on its connection', () => {
  const CONTENT_TYPE = 'text/csv; charset=utf-8; header=present' as const;

  /** Asks for a body of `parts` on the connection of a request that is answered once `answerFirst` is called. */
  const askBehind = async (parts: () => AsyncIterable<string>) => {
    const { state, stream } = makeBody(parts);
    let answerFirst = () => {};
    const first = new Promise<void>((resolve) => {
      answerFirst = resolve;
    });
    const service = await startService({
      handlers: {
        getHealth: () => first.then(() => ({ status: 200, body: { ok: true } })),
        exportDecisions: async () =>
          ({ status: 200, stream, contentType: CONTENT_TYPE, headers: {} }) as never,
      },
    });
    const socket = connect(service.port, '127.0.0.1').setEncoding('utf8');
    const headers = `HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${TOKENS.rp}\r\n\r\n`;
    socket.write(`GET /healthz ${headers}GET ${PATH} ${headers}`);
    await expect.poll(() => service.registry.metrics()).toContain('svc_http_requests_in_flight 2');
    return { ...service, state, socket, answerFirst };
  };

  const expectBothEnded = async ({ log, registry, state }: Awaited<ReturnType<typeof askBehind>>) => {
    await expect.poll(() => log.join('')).toMatch(/"route":"exportDecisions","status":0/);
    await expect.poll(() => state.ended).toBe(1);
    expect(await registry.metrics()).toContain('svc_http_requests_in_flight 0');
  };

  it('ends with the connection', async () => {
    const asked = await askBehind(manyMegabytes);
    await expect.poll(() => asked.state.made).toBe(1);
    asked.socket.destroy();
    await expectBothEnded(asked);
    expect(asked.state.made).toBe(1);
  });

  it('is not produced when the connection has ended before', async () => {
    let begin = () => {};
    const mayBegin = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const asked = await askBehind(async function* () {
      await mayBegin;
      yield* manyMegabytes();
    });
    asked.socket.destroy();
    await expect.poll(() => asked.log.join('')).toMatch(/"route":"exportDecisions","status":0/);
    begin();
    await expectBothEnded(asked);
    expect(asked.state.made).toBe(1);
  });

  it('that fails after its first part cuts the connection behind the other one', async () => {
    const asked = await askBehind(async function* () {
      yield 'a,b\r\n';
      throw new Error('storage went away');
    });
    await expect.poll(() => asked.log.join('')).toContain('storage went away');
    let seen = '';
    asked.socket.on('data', (text) => {
      seen += text;
    });
    asked.answerFirst();
    await once(asked.socket, 'close');
    expect(seen.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
    await expectBothEnded(asked);
  });
});
