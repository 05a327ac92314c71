import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { parseStrictJson } from '@svc/protocol';
import {
  bomb,
  drip,
  forever,
  head,
  type Mode,
  ok,
  startHostile,
} from '@svc/testkit/conformance/hostile-endpoint';
import { inMemory, perfectAnswer } from '@svc/testkit/conformance/perfect-endpoint';
import { sampleOf } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { createHttpTransport, readVectorSet } from '../src/node.ts';
import { runConformance } from '../src/run-conformance.ts';
import type { Transport } from '../src/transport.ts';
import { CASE_OPS, MAX_ANSWER_BYTES } from '../src/wire.ts';

/** A few cases of each op: five batches. */
const all = readVectorSet();
const vectors = {
  ...all,
  cases: CASE_OPS.flatMap((op) => all.cases.filter((one) => one.op === op).slice(0, 10)),
};
const clock = { nowMs: () => performance.now() };
const transport = createHttpTransport();

/** Gives a short deadline to modes that end only by the deadline, but never to the request that is answered. */
const impatient: Transport = {
  post: (url, text, limits) =>
    transport.post(url, text, { ...limits, timeoutMs: text.includes('"op":"describe"') ? 10_000 : 100 }),
};

const against = async (mode: Mode, isHonestFirst: boolean, through: Transport = transport) => {
  const endpoint = await startHostile(vectors, mode, { isHonestFirst });
  try {
    return {
      report: await runConformance({ url: endpoint.url, vectors, transport: through, clock }),
      endpoint,
    };
  } finally {
    await endpoint.close();
  }
};

const chunked = { 'transfer-encoding': 'chunked' };
const status =
  (line: string, headers = {}): Mode =>
  (socket) =>
    socket.end(head(line, { 'content-length': 0, ...headers }));
const body =
  (change: (right: string) => string | Buffer): Mode =>
  (socket, right) =>
    ok(socket, change(right));
const coded =
  (coding: string, encode: (right: string) => Buffer): Mode =>
  (socket, right) =>
    ok(socket, encode(right), { 'content-encoding': coding });

/** Modes without an answer, which only the deadline ends. */
const ENDLESS: Readonly<Record<string, Mode>> = {
  'never answers': () => {},
  'drips its status line': (socket) => drip(socket, 'HTTP/1.1 200 OK'),
  'drips header lines': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    drip(socket, 'x-a: b\r\n');
  },
  'drips a body of known length': (socket, right) => {
    socket.write(head('200 OK', { 'content-length': right.length }));
    drip(socket, right);
  },
  'drips chunks': (socket) => {
    socket.write(head('200 OK', chunked));
    drip(socket, '1\r\n \r\n');
  },
  'promises a terabyte and falls silent': (socket) =>
    socket.write(head('200 OK', { 'content-length': 1_099_511_627_776 })),
  'sends 100 Continue without end': (socket) => forever(socket, 'HTTP/1.1 100 Continue\r\n\r\n'),
};

/** Modes without an answer, in which the failure is visible before the deadline. */
const BROKEN: Readonly<Record<string, Mode>> = {
  'closes at once': (socket) => socket.end(),
  'resets the connection': (socket) => socket.resetAndDestroy(),
  'sends less than it promised': (socket, right) => {
    socket.write(head('200 OK', { 'content-length': right.length + 1 }));
    socket.end(right);
  },
  'ends without the last chunk': (socket) => socket.end(`${head('200 OK', chunked)}1\r\n{\r\n`),
  'sends a chunk size that is no number': (socket) =>
    socket.end(`${head('200 OK', chunked)}zz\r\n{\r\n0\r\n\r\n`),
  'sends header lines without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    forever(socket, `x-a: ${'b'.repeat(1000)}\r\n`);
  },
  'sends one header line without end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx-a: ');
    forever(socket, 'b'.repeat(1000));
  },
  'sends trailers without end': (socket) => {
    socket.write(`${head('200 OK', chunked)}0\r\n`);
    forever(socket, `x-a: ${'b'.repeat(1000)}\r\n`);
  },
  'switches protocols': (socket) =>
    socket.write(head('101 Switching Protocols', { connection: 'upgrade', upgrade: 'x' })),
  'speaks another protocol': (socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'),
  'sends two lengths': (socket, right) =>
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: ${right.length}\r\n\r\n${right}`),
  'sends a length and chunks': (socket) =>
    socket.end(`${head('200 OK', { ...chunked, 'content-length': 2 })}2\r\n{}\r\n0\r\n\r\n`),
};

/** Modes with an answer that violates the contract. */
const WRONG: Readonly<Record<string, Mode>> = {
  'sends a body without end in chunks': (socket) => {
    socket.write(head('200 OK', chunked));
    forever(socket, `10000\r\n${' '.repeat(65_536)}\r\n`);
  },
  'sends a body without length or end': (socket) => {
    socket.write(head('200 OK', {}));
    forever(socket, ' '.repeat(65_536));
  },
  'redirects to itself': status('302 Found', { location: '/' }),
  'redirects with 307': status('307 Temporary Redirect', { location: 'http://127.0.0.1:1/' }),
  'redirects with 308': status('308 Permanent Redirect', { location: 'file:///etc/passwd' }),
  'answers 204': status('204 No Content'),
  'answers 401': status('401 Unauthorized', { 'www-authenticate': 'Basic' }),
  'answers 404': status('404 Not Found'),
  'answers 429': status('429 Too Many Requests', { 'retry-after': 3600 }),
  'answers 500 with a right body': (socket, right) =>
    socket.end(`${head('500 Oops', { 'content-length': right.length })}${right}`),
  'answers 503': status('503 Service Unavailable', { 'retry-after': 3600 }),
  'sends a gzip bomb': (socket) => ok(socket, bomb(), { 'content-encoding': 'gzip' }),
  'compresses with gzip': coded('gzip', gzipSync),
  'compresses with deflate': coded('deflate', deflateSync),
  'compresses with brotli': coded('br', brotliCompressSync),
  'compresses without saying so': (socket, right) => ok(socket, gzipSync(right)),
  'names a transfer coding': (socket) =>
    socket.end(`${head('200 OK', { 'transfer-encoding': 'gzip, chunked' })}0\r\n\r\n`),
  'sends nothing': body(() => ''),
  'sends a page': body(() => '<!doctype html><title>Welcome</title>'),
  'sends half an answer': body((right) => right.slice(0, right.length / 2)),
  'sends two answers': body((right) => right + right),
  'sends a byte order mark': body((right) => `\ufeff${right}`),
  'sends bytes that are not UTF-8': body((right) => Buffer.concat([Buffer.from(right), Buffer.from([0xff])])),
  'sends UTF-16': body((right) => Buffer.from(right, 'utf16le')),
  'nests without end': body(() => '['.repeat(1_000_000)),
  'sends a member twice': body((right) => right.replace('{', '{"op":"evaluate",')),
  'sends one member too many': body((right) => right.replace('{', '{"more":1,')),
  'sends a member named __proto__': body((right) => right.replace('{', '{"__proto__":{"results":[]},')),
  'speaks another contract': body((right) =>
    right.replace('svc-conformance-http v1', 'svc-conformance-http v2'),
  ),
  'answers another op': body((right) => right.replace(/"op":"[^"]+"/, '"op":"x"')),
  'sends null': body(() => 'null'),
  'sends a number that is none': body((right) => right.replace('{', '{"n":1e999,')),
};

const UNDECIDED = { status: 'error', totals: { passed: 0, failed: 0, undecided: vectors.cases.length } };

describe('a conformance run of an endpoint that misbehaves from the first request on', () => {
  it.each([...Object.entries(BROKEN), ...Object.entries(WRONG)])(
    'is undecided after one request if the endpoint %s',
    async (_, mode) => {
      const { report } = await against(mode, false);
      expect(report).toMatchObject({ ...UNDECIDED, endpoint: null, requests: 1 });
      expect(report.error).toMatch(/^describe: \S/);
    },
  );

  // Concurrent, because these tests only wait.
  it.concurrent.each(Object.entries(ENDLESS))(
    'is undecided after one deadline if the endpoint %s',
    async (_, mode) => {
      const { report } = await against(mode, false, {
        post: (url, text, limits) => transport.post(url, text, { ...limits, timeoutMs: 100 }),
      });
      expect(report).toMatchObject({ ...UNDECIDED, endpoint: null, requests: 1 });
      expect(report.error).toBe('describe: no complete answer within 100 ms');
    },
  );
});

describe('a conformance run of an endpoint that describes itself correctly', () => {
  const modes = [...sampleOf(Object.entries(BROKEN), 6), ...sampleOf(Object.entries(ENDLESS), 1)];
  it.concurrent.each(modes)(
    'is undecided after three requests without an answer if the endpoint then %s',
    async (_, mode) => {
      const { report } = await against(mode, true, impatient);
      expect(report).toMatchObject({ ...UNDECIDED, error: '3 requests in a row had no answer', requests: 4 });
    },
  );

  // A sample, because each mode is tested above with a first request.
  it.each(sampleOf(Object.entries(WRONG), 10))(
    'fails every case if the endpoint then %s',
    async (_, mode) => {
      const { report } = await against(mode, true);
      expect(report).toMatchObject({ status: 'failed', error: null, requests: 6 });
      expect(report.totals).toMatchObject({ passed: 0, failed: vectors.cases.length });
    },
  );
});

interface Entry {
  id: string;
  result?: unknown;
  error?: unknown;
}

const results =
  (change: (results: Entry[]) => unknown): Mode =>
  (socket, right) => {
    const answer = JSON.parse(right);
    ok(socket, JSON.stringify({ ...answer, results: change(answer.results) }));
  };

describe('results of an endpoint', () => {
  it.each<readonly [string, (results: Entry[]) => unknown, string]>([
    ['are not an array', () => ({}), 'results must be an array'],
    ['are null', () => [null], '/results/0 must be {id, result} or {id, error}'],
    [
      'name a case that was not requested',
      (entries) => [{ ...entries[0], id: 'x' }, ...entries],
      '/results/0/id is no case of the request',
    ],
    ['come twice', (entries) => [entries[0], ...entries], '/results/1/id has a result already'],
    ['are missing', () => [], 'the answer has no result for this case'],
    [
      'hold result and error',
      (entries) => entries.map((one) => ({ ...one, error: '' })),
      '/results/0 must be',
    ],
    [
      'have an error that is not text',
      (entries) => entries.map(({ id }) => ({ id, error: 1 })),
      '/results/0 must be',
    ],
    [
      'are errors',
      (entries) => entries.map(({ id }) => ({ id, error: 'no\u001b[2J\nPASSED' })),
      'the endpoint says: no',
    ],
    [
      'are long errors of surrogate pairs',
      (entries) => entries.map(({ id }) => ({ id, error: '💥'.repeat(1000) })),
      'the endpoint says: 💥',
    ],
    ['are enormous', (entries) => [{ id: entries[0]?.id, result: 'x'.repeat(3_000_000) }], 'not "xxx'],
  ])('that %s fail every case, and the report says why', async (_, change, problem) => {
    const { report } = await against(results(change), true);
    expect(report.totals).toMatchObject({ passed: 0, failed: vectors.cases.length });
    expect(report.sets[0]?.cases[0]?.problem).toContain(problem);
    const text = JSON.stringify(report);
    expect(text.length).toBeLessThan(vectors.cases.length * 3000);
    expect(parseStrictJson(text)).toMatchObject({ ok: true });
  });

  it('that come in another order pass', async () => {
    const { report } = await against(
      results((entries) => entries.reverse()),
      true,
    );
    expect(report).toMatchObject({ status: 'passed', error: null });
  });
});

describe('the description of an endpoint', () => {
  const describing =
    (change: object): Mode =>
    (socket, right) =>
      ok(socket, JSON.stringify({ ...JSON.parse(right), ...change }));

  it.each<readonly [string, object, string]>([
    ['has no evaluate', { ops: ['isJti'] }, 'ops must be'],
    ['has no svc-base-v1', { profiles: ['svc-base-v2'] }, 'profiles must be'],
    ['accepts too few bytes at once', { max_request_bytes: 1024 }, 'max_request_bytes must be'],
    ['accepts too few cases at once', { max_cases: 1 }, 'max_cases must be'],
    [
      'has a name of 100,000 characters',
      { implementation: { name: 'x'.repeat(100_000), version: '1' } },
      'name and version',
    ],
    ['has no implementation', { implementation: null }, 'implementation must be'],
    ['names 100,000 ops', { ops: Array.from({ length: 100_000 }, () => 'evaluate') }, 'ops must be'],
    ['has a value of receipts that is not boolean', { receipts: 'yes' }, 'receipts must be'],
  ])('is refused if it %s', async (_, change, problem) => {
    const { report } = await against(describing(change), false);
    expect(report).toMatchObject({ status: 'error', requests: 1 });
    expect(report.error).toContain(problem);
  });
});

/** Bytes of the heap that are still referenced. */
const heapBytes = (): number => {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
};

it('a run with answers of the maximum length keeps less than one such answer in memory', async () => {
  const filler = 'x'.repeat(MAX_ANSWER_BYTES - 2000);
  const endpoint = inMemory((requestText) => {
    const answer = JSON.parse(perfectAnswer(vectors, requestText));
    if (answer.op === 'describe') return JSON.stringify(answer);
    const [first, second] = (answer.results as Entry[]).map(({ id }) => id);
    const results = [
      { id: first, error: 'a text that is long enough to be a view' },
      { id: second, result: filler },
    ];
    return JSON.stringify({ ...answer, results });
  });
  const one = vectors.cases.slice(0, 1);
  await runConformance({ url: '', vectors: { ...vectors, cases: one }, transport: endpoint, clock });
  const before = heapBytes();
  const report = await runConformance({ url: '', vectors, transport: { post: endpoint.post }, clock });
  expect(heapBytes() - before).toBeLessThan(MAX_ANSWER_BYTES);
  expect(report.totals.failed).toBe(vectors.cases.length);
});

describe('a conformance run', () => {
  it('counts no request if the transport refuses to send it', async () => {
    const refusing: Transport = { post: async () => ({ kind: 'refused', why: 'not public' }) };
    const report = await runConformance({ url: 'https://e.example/', vectors, transport: refusing, clock });
    expect(report).toMatchObject({ ...UNDECIDED, error: 'describe: not public', requests: 0 });
  });

  it('ends with an error if nothing listens at the address', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    const report = await runConformance({ url: `http://127.0.0.1:${port}/`, vectors, transport, clock });
    expect(report).toMatchObject({ status: 'error', error: 'describe: no complete answer: ECONNREFUSED' });
  });

  it('does not follow a redirect', async () => {
    let requests = 0;
    const trap = createServer((_, response) => {
      requests++;
      response.end();
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    const location = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`;
    const { report } = await against(status('307 Temporary Redirect', { location }), true);
    trap.close();
    expect(report.status).toBe('failed');
    expect(requests).toBe(0);
  });

  it.each(['sends a body without end in chunks', 'sends a body without length or end'])(
    'stops reading an answer at the size limit if the endpoint %s',
    async (name) => {
      const { endpoint } = await against(WRONG[name] ?? (() => {}), true);
      // The limit, and what the socket buffers on both sides hold.
      expect(endpoint.bytesSent() / endpoint.connections()).toBeLessThan(4 * MAX_ANSWER_BYTES);
    },
  );

  it('stops at the time limit of the run if the endpoint answers slowly', async () => {
    let nowMs = 0;
    const slow: Transport = {
      post: (url, text, limits) => {
        nowMs += 50_000;
        return transport.post(url, text, { ...limits, timeoutMs: 10_000 });
      },
    };
    const endpoint = await startHostile(vectors, (socket, right) => ok(socket, right), {
      isHonestFirst: true,
    });
    const report = await runConformance({
      url: endpoint.url,
      vectors,
      transport: slow,
      clock: { nowMs: () => nowMs },
    });
    await endpoint.close();
    expect(report).toMatchObject({
      status: 'error',
      error: 'the run has reached its limit of 120000 ms',
      requests: 3,
      duration_ms: 150_000,
      totals: { failed: 0, passed: 20, undecided: vectors.cases.length - 20 },
    });
  });
});
