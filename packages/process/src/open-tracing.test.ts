import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { trace } from '@opentelemetry/api';
import { isTracing, traced, tracedRequest, traceparent } from '@svc/service';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openTracing } from './open-tracing.ts';

const received: { headers: IncomingHttpHeaders; bytes: number }[] = [];
const server = createServer((request, response) => {
  let bytes = 0;
  request.on('data', (part: Buffer) => {
    bytes += part.length;
  });
  request.on('end', () => {
    received.push({ headers: request.headers, bytes });
    response.end();
  });
});
const lines: string[] = [];
const logger = pino({ level: 'info' }, { write: (line) => void lines.push(line) });
const ENDPOINT = 'OTEL_EXPORTER_OTLP_ENDPOINT';

beforeEach(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await new Promise((resolve) => server.close(resolve));
});
const stubEndpoint = (path = '') =>
  vi.stubEnv(ENDPOINT, `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`);

it('without an endpoint, or if disabled, nothing is traced and the OpenTelemetry API is not called', async () => {
  const asked = vi.spyOn(trace, 'getActiveSpan');
  for (const env of [{}, { [ENDPOINT]: '' }, { [ENDPOINT]: 'http://x', OTEL_SDK_DISABLED: 'true' }]) {
    const { close } = await openTracing(env, 'svc-test', logger);
    const work = vi.fn(() => 7);
    expect([isTracing(), traced('a', work), traceparent()]).toEqual([false, 7, null]);
    // Called without arguments: it gets no span.
    expect(work.mock.calls).toEqual([[]]);
    await close();
  }
  expect(asked).not.toHaveBeenCalled();
});

it('with an endpoint, spans are sent there as protobuf with the headers of the standard variables', async () => {
  stubEndpoint();
  vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'x-tenant=ops');
  const { close } = await openTracing(process.env, 'svc-test', logger);
  expect(await traced('a', async () => traceparent())).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  await close();
  expect(isTracing()).toBe(false);
  const [first] = received;
  expect(first?.headers).toMatchObject({ 'content-type': 'application/x-protobuf', 'x-tenant': 'ops' });
  expect(first?.bytes).toBeGreaterThan(50);
});

it('a sampler that records nothing exports nothing', async () => {
  stubEndpoint();
  const before = received.length;
  const env = {
    ...process.env,
    OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0',
  };
  const { close } = await openTracing(env, 'svc-test', logger);
  expect(traced('a', () => traceparent())).toMatch(/-00$/);
  await close();
  expect(received.length).toBe(before);
});

/** The trace flags of a request with this traceparent, or without one, and of the spans below it. */
const flagsOf = async (sampler: Readonly<Record<string, string>>, incoming: string | undefined) => {
  stubEndpoint();
  const { close } = await openTracing({ ...process.env, ...sampler }, 'svc-test', logger);
  const headers = incoming === undefined ? {} : { traceparent: incoming };
  const found = tracedRequest('a', headers, {}, () => [traceparent(), traced('inner', () => traceparent())]);
  await close();
  return found.map((one) => one?.slice(-2));
};
const STRANGER = '00-00000000000000000000000000000001-00f067aa0ba902b7';
const NONE = { OTEL_TRACES_SAMPLER_ARG: '0' };

it.each([
  ['a caller cannot force a trace', NONE, `${STRANGER}-01`, '00'],
  [
    'a caller cannot force a trace by a trace id within the ratio',
    { OTEL_TRACES_SAMPLER_ARG: '1e-9' },
    `${STRANGER}-01`,
    '00',
  ],
  ['a caller cannot prevent a trace', {}, `${STRANGER}-00`, '01'],
  [
    'a caller has no influence with always_off',
    { OTEL_TRACES_SAMPLER: 'always_off' },
    `${STRANGER}-01`,
    '00',
  ],
  ['the same holds without a caller', NONE, undefined, '00'],
  [
    'only a parentbased sampler follows the caller',
    { OTEL_TRACES_SAMPLER: 'parentbased_always_off' },
    `${STRANGER}-01`,
    '01',
  ],
])('the service decides what is sampled: %s', async (_, sampler, incoming, flags) => {
  expect(await flagsOf(sampler, incoming)).toEqual([flags, flags]);
});

it('an unreachable receiver breaks nothing and is logged', async () => {
  vi.stubEnv(ENDPOINT, 'http://127.0.0.1:9');
  vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '200');
  const { close } = await openTracing(process.env, 'svc-test', logger);
  expect(traced('a', () => 1)).toBe(1);
  await close();
  expect(lines.join('')).toContain('"msg":"traces.not_exported"');
});

it.each([
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'must be http/protobuf or http/json, not "grpc"'],
  [{ OTEL_TRACES_SAMPLER: 'sometimes' }, 'OTEL_TRACES_SAMPLER must be one of'],
  [{ OTEL_TRACES_SAMPLER_ARG: '2' }, 'must be a number from 0 to 1'],
  [{ OTEL_BSP_SCHEDULE_DELAY: '5s' }, 'OTEL_BSP_SCHEDULE_DELAY must be a number of milliseconds'],
])('%o is refused with an error that says what is valid', async (env, message) => {
  await expect(openTracing({ [ENDPOINT]: 'http://x', ...env }, 'svc-test', logger)).rejects.toThrow(message);
});

it('an error of traced work is thrown unchanged, and nested spans belong to the same trace', async () => {
  stubEndpoint();
  const { close } = await openTracing(process.env, 'svc-test', logger);
  const failure = new Error('as it was');
  expect(() =>
    traced('a', () => {
      throw failure;
    }),
  ).toThrow(failure);
  await expect(traced('a', () => Promise.reject(failure))).rejects.toBe(failure);
  const [outer, inner] = traced('outer', () => [traceparent(), traced('inner', () => traceparent())]);
  expect(inner).not.toBe(outer);
  expect(inner?.slice(3, 35)).toBe(outer?.slice(3, 35));
  await close();
});
