import { startServer, unavailable } from '@svc/testkit/sdk/scripted-server';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createTransport } from '../src/transport.ts';

const call = { method: 'GET', path: '/me', hasEffect: false } as const;
const NOW_MS = Date.parse('2026-11-20T08:00:00Z');

describe('the wait between attempts', () => {
  const run = async (retryAfter: string | null, random: number, failures = 1) => {
    const waits: number[] = [];
    let left = failures;
    const headers: Record<string, string> = retryAfter === null ? {} : { 'retry-after': retryAfter };
    await using server = await startServer(() =>
      left-- > 0 ? { ...(unavailable() as object), headers } : { json: { ok: true } },
    );
    const transport = createTransport({
      baseUrl: server.baseUrl,
      apiKey: 'key',
      apiKeyVariable: 'UNUSED',
      timeoutMs: 600_000,
      maxAttempts: 10,
      now: () => NOW_MS,
      random: () => random,
      sleep: async (ms) => void waits.push(ms),
    });
    expect(await transport.send(call)).toMatchObject({ status: 200, body: { ok: true } });
    return waits;
  };

  it('follows Retry-After in seconds or as a date, plus a random share', async () => {
    expect(await run('7', 0)).toEqual([7_000]);
    expect(await run('Fri, 20 Nov 2026 08:00:09 GMT', 0)).toEqual([9_000]);
    expect(await run('7', 0.5)).toEqual([7_050]);
    expect(await run('soon', 0)).toEqual([0]);
  });

  it('without Retry-After is a random share that doubles up to two seconds', async () => {
    expect(await run(null, 0.5, 7)).toEqual([50, 100, 200, 400, 800, 1_000, 1_000]);
  });
});

describe('a service that is unreachable for a while', () => {
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['refused connections', 'ECONNREFUSED'],
    ['lost connections', 'ECONNRESET'],
  ])('fails no call whose deadline is later: %s', async (_, code) => {
    vi.useFakeTimers();
    const backAtMs = performance.now() + 2_500;
    const transport = createTransport({
      baseUrl: 'https://svc.example',
      apiKey: 'key',
      apiKeyVariable: 'UNUSED',
      timeoutMs: 5_000,
      fetch: async () => {
        if (performance.now() < backAtMs)
          throw Object.assign(new TypeError('fetch failed'), { cause: { code } });
        return Response.json({ ok: true });
      },
    });
    const answers = Promise.all(Array.from({ length: 200 }, () => transport.send(call)));
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await answers).map(({ status }) => status)).toEqual(Array(200).fill(200));
  });

  it('does not hold a call beyond its deadline, and the error names the cause', async () => {
    vi.useFakeTimers();
    const beganAtMs = performance.now();
    const transport = createTransport({
      baseUrl: 'https://svc.example',
      apiKey: 'key',
      apiKeyVariable: 'UNUSED',
      timeoutMs: 5_000,
      fetch: async () =>
        Promise.reject(Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } })),
    });
    const failed = transport.send(call).catch((error: Error) => ({
      message: error.message,
      afterMs: performance.now() - beganAtMs,
    }));
    await vi.advanceTimersByTimeAsync(10_000);
    const { message, afterMs } = (await failed) as { message: string; afterMs: number };
    expect(message).toContain('svc.example failed (ECONNREFUSED)');
    expect(afterMs).toBeLessThanOrEqual(5_000);
  });
});

describe('an overloaded service', () => {
  const overloaded = (answer: () => Response | Error) => {
    let [sent, nowMs] = [0, NOW_MS];
    const transport = createTransport({
      baseUrl: 'https://svc.example',
      apiKey: 'key',
      apiKeyVariable: 'UNUSED',
      timeoutMs: 600_000,
      maxAttempts: 3,
      now: () => nowMs,
      sleep: async () => {},
      fetch: async () => {
        sent += 1;
        const given = answer();
        if (given instanceof Error) throw given;
        return given;
      },
    });
    /** Makes this many calls at once; returns the number of requests. */
    const burst = async (calls: number, elapsedMs = 0) => {
      [sent, nowMs] = [0, nowMs + elapsedMs];
      await Promise.allSettled(Array.from({ length: calls }, () => transport.send(call)));
      return sent;
    };
    return burst;
  };
  const refusal = () =>
    new Response('{"error":"SERVICE_UNAVAILABLE","message":"busy"}', {
      status: 503,
      headers: { 'content-type': 'application/json', 'retry-after': '1' },
    });

  it('gets at most 100 retries in a burst, then a fifth of the calls plus ten a second', async () => {
    const burst = overloaded(refusal);
    expect(await burst(1_000)).toBe(1_000 + 100);
    expect(await burst(300)).toBe(300 + 60);
    expect(await burst(100, 5_000)).toBe(100 + 20 + 50);
  });

  it('gets all retries of lost connections, which overload does not cause', async () => {
    const lost = Object.assign(new TypeError('fetch failed'), { cause: { code: 'ECONNREFUSED' } });
    expect(await overloaded(() => lost)(1_000)).toBe(3_000);
  });
});

describe('a fetch that ignores its signal', () => {
  it('ends with a timeout at the deadline', async () => {
    const transport = createTransport({
      baseUrl: 'https://svc.example',
      apiKey: 'key',
      apiKeyVariable: 'UNUSED',
      timeoutMs: 20,
      maxAttempts: 3,
      fetch: () => new Promise(() => undefined),
    });
    await expect(transport.send(call)).rejects.toMatchObject({ kind: 'timeout' });
  });

  it('ends as outcome-unknown at the deadline where the body never ends', async () => {
    const transport = createTransport({
      baseUrl: 'https://svc.example',
      apiKey: 'key',
      apiKeyVariable: 'UNUSED',
      timeoutMs: 20,
      maxAttempts: 3,
      fetch: async () => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) })),
    });
    await expect(transport.send({ ...call, hasEffect: true })).rejects.toMatchObject({
      kind: 'outcome-unknown',
    });
  });
});
