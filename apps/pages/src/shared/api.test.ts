import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { callApi } from './api.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

const unavailable = (retryAfter?: string) =>
  Response.json(
    { message: 'Storage does not answer.' },
    { status: 503, ...(retryAfter !== undefined && { headers: { 'Retry-After': retryAfter } }) },
  );

/** Answers with these in order, and with the last one from then on. */
const answering = (...answers: readonly (() => Response)[]) => {
  const fetched = vi.fn<typeof fetch>();
  for (const answer of answers.slice(0, -1)) fetched.mockImplementationOnce(async () => answer());
  fetched.mockImplementation(async () => answers.at(-1)?.() ?? Response.error());
  vi.stubGlobal('fetch', fetched);
  return fetched;
};
const settled = async <T>(call: Promise<T>) => {
  const result = call.catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return result;
};

it('callApi repeats a GET answered 503 after the time in Retry-After', async () => {
  const fetched = answering(
    () => unavailable('1'),
    () => unavailable('2'),
    () => Response.json({ ok: 1 }),
  );
  const startedAt = Date.now();
  expect(await settled(callApi('me'))).toEqual({ status: 200, body: { ok: 1 } });
  expect([fetched.mock.calls.length, Date.now() - startedAt]).toEqual([3, 3_000]);
});

it('callApi repeats a GET at most twice, and then reports the last answer', async () => {
  const fetched = answering(() => unavailable('1'));
  expect(await settled(callApi('me'))).toMatchObject({ status: 503, message: 'Storage does not answer.' });
  expect(fetched).toHaveBeenCalledTimes(3);
});

it('callApi does not repeat a POST, a 503 without Retry-After, or one with a long Retry-After', async () => {
  const fetched = answering(
    () => unavailable('1'),
    () => unavailable(),
    () => unavailable('3600'),
  );
  for (const options of [{ body: {} }, {}, {}])
    expect(await settled(callApi('me', options))).toMatchObject({ status: 503 });
  expect(fetched).toHaveBeenCalledTimes(3);
});
