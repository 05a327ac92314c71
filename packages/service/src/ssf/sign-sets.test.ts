/**
 * With a slow signer, such as a token behind PKCS#11: what a poll returns of a long backlog, and how much of the signer
 * is left to others.
 */
import { slowSigner } from '@svc/testkit/slow-signer';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { StreamRecord, WaitingEvent } from '../ports/streams.ts';
import type { Tenant } from '../ports/tenant.ts';
import { createSigningTurns } from '../service-keys/status-signatures.ts';
import { SetSigner } from './sign-sets.ts';

const stream = { streamId: 'ssf_1', audience: 'rp did:web:shop.example' } as unknown as StreamRecord;
const tenant = (org: string): Tenant => ({ crowd: 'tenants', org, subject: org });
const backlog = (length: number): WaitingEvent[] =>
  Array.from({ length }, (_, i) => ({
    eventId: `evt_${i}`,
    type: 'decision.deny',
    occurredAtMs: 0,
    data: '{}',
  }));

const slowToken = (...of: Parameters<typeof slowSigner>) => {
  const { identity, sign, count } = slowSigner(...of);
  return { sets: new SetSigner({ identity } as never, createSigningTurns()), sign, count };
};

/** Polls until nothing is left; returns the number of polls. */
const drain = async (
  { sets }: ReturnType<typeof slowToken>,
  events: WaitingEvent[],
  meanwhile = async () => {},
) => {
  let polls = 0;
  for (let left = events; left.length > 0; polls++) {
    const [signed] = await Promise.all([sets.sign(left, stream, tenant('a')), meanwhile()]);
    const given = Object.keys(signed).length;
    expect(Object.keys(signed)).toEqual(left.slice(0, given).map(({ eventId }) => `${eventId}.ssf_1`));
    left = left.slice(given);
  }
  return polls;
};

beforeEach(() => {
  vi.useFakeTimers().setTimerTickMode('nextTimerAsync');
});
afterEach(() => {
  vi.useRealTimers();
});

describe('a poll of SETs', () => {
  it('with 100 events and a slow signer returns those signed in time, and status lists are signed meanwhile', async () => {
    const token = slowToken(25);
    let lists = 0;
    const polls = await drain(token, backlog(100), async () => {
      await token.sign();
      lists += 1;
    });
    expect(polls).toBeGreaterThan(1);
    expect(lists).toBe(polls);
    expect(token.count()).toBe(100 + lists);
  });

  it('would return none of 100 events if all were passed to a slow signer at once', async () => {
    const { sign } = slowToken(25);
    await expect(Promise.all(Array.from({ length: 100 }, sign))).rejects.toThrow('within 500 ms');
  });

  it('returns the SETs before the first that could not be signed, and fails if that is the first of all', async () => {
    let calls = 0;
    const { sets } = slowToken(0, () => ++calls > 3);
    expect(Object.keys(await sets.sign(backlog(5), stream, tenant('a')))).toHaveLength(3);
    await expect(sets.sign(backlog(5).slice(3), stream, tenant('a'))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    expect(await sets.sign([], stream, tenant('a'))).toEqual({});
  });

  it('returns SETs again soon after one call to the signer never ended', async () => {
    vi.setTimerTickMode('manual');
    const silent = () => new Promise<never>(() => {});
    const sign = vi.fn(async () => new Uint8Array(64)).mockImplementationOnce(silent);
    const signer = { kid: 'did:web:svc.example#status-1', sign };
    const identity = {
      baseUrl: 'https://svc.example',
      did: 'did:web:svc.example',
      statusKeys: { signer, published: [] },
    };
    const sets = new SetSigner({ identity } as never, createSigningTurns());
    const refused = expect(sets.sign(backlog(1), stream, tenant('a'))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    await vi.advanceTimersByTimeAsync(2_000);
    await refused;
    const next = sets.sign(backlog(3), stream, tenant('b')).catch(() => ({}));
    await vi.advanceTimersByTimeAsync(1_000);
    expect(Object.keys(await next)).toHaveLength(3);
    expect(sign).toHaveBeenCalledTimes(4);
  });

  it('repeats SETs without signing them again', async () => {
    const token = slowToken(0);
    const first = await token.sets.sign(backlog(5), stream, tenant('a'));
    expect(await token.sets.sign(backlog(5), stream, tenant('a'))).toEqual(first);
    expect(token.count()).toBe(5);
  });

  it('of one tenant is not held up by the backlog of another tenant', async () => {
    const token = slowToken(40);
    const [own, others] = await Promise.all([
      token.sets.sign(backlog(3), { ...stream, streamId: 'ssf_2' }, tenant('b')),
      token.sets.sign(backlog(100), stream, tenant('a')),
    ]);
    expect(Object.keys(own)).toHaveLength(3);
    expect(Object.keys(others).length).toBeGreaterThan(0);
  });
});
