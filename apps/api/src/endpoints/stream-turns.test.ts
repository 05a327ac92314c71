import { type Caller, tenantAt, tenantOf } from '@svc/service';
import { describe, expect, it } from 'vitest';
import { EXPORTS, LEAVES, leavesMs, type StreamLimits, StreamTurns } from './stream-turns.ts';

const caller = (subject: string, orgId: string | null = null, isNewcomer = false) =>
  ({ class: 'rp', subject, relyingParty: { orgId }, isNewcomer }) as unknown as Caller;
const settled = () => new Promise(setImmediate);

async function* endless(): AsyncGenerator<string> {
  for (;;) yield 'row\n';
}

it('A subject has at most three exports at once; others are not affected, and one that ended, was cut or failed makes room', async () => {
  const turns = new StreamTurns(EXPORTS);
  const begin = async (subject: string) => {
    const parts = turns.take(tenantOf(caller(subject)), endless());
    await parts.next();
    return parts;
  };
  const running = await Promise.all(['a', 'a', 'a'].map(begin));
  await expect(begin('a')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await begin('b');
  await running[0]?.return(undefined);
  await begin('a');
  await expect(begin('a')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await running[1]?.throw(new Error('cut')).catch(() => {});
  await begin('a');
});

it('A relying party’s exports do not count for the Principal with the same DID', async () => {
  const turns = new StreamTurns(EXPORTS);
  const did = 'did:web:shop.example';
  const begin = (one: Caller) => turns.take(tenantOf(one), endless()).next();
  for (let i = 0; i < 3; i++) await begin(caller(did));
  await expect(begin(caller(did))).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  const principal = { class: 'principal', subject: did, orgId: null, isNewcomer: false } as unknown as Caller;
  expect((await begin(principal)).value).toBe('row\n');
});

describe('A node', () => {
  /** Exports whose first part can be delayed. */
  const create = (change: Partial<StreamLimits> = {}) => {
    const turns = new StreamTurns({ ...EXPORTS, ...change });
    const begin = (...of: Parameters<typeof caller>) => {
      const parts = turns.take(tenantOf(caller(...of)), endless());
      const one = { parts, hasBegun: false, first: parts.next() };
      one.first.then(
        () => {
          one.hasBegun = true;
        },
        () => {},
      );
      return one;
    };
    return { turns, begin };
  };

  it('runs eight exports at once; further ones wait for a turn that alternates between orgs', async () => {
    const { begin } = create();
    const running = ['a', 'a', 'a', 'b', 'b', 'b', 'c', 'c'].map((org, i) => begin(`${org}${i}`, org));
    await Promise.all(running.map(({ first }) => first));
    const [again, once] = [begin('c8', 'c'), begin('c9', 'c')];
    const other = begin('d', 'd');
    await settled();
    expect([again, once, other].map(({ hasBegun }) => hasBegun)).toEqual([false, false, false]);
    await running[0]?.parts.return(undefined);
    await settled();
    await running[1]?.parts.throw(new Error('cut')).catch(() => {});
    await settled();
    expect([again, once, other].map(({ hasBegun }) => hasBegun)).toEqual([true, false, true]);
  });

  it('gives one org, and all newcomers together, at most three exports at once; others still get a place', async () => {
    const { begin } = create();
    const org = ['1', '2', '3', '4'].map((subject) => begin(subject, 'org'));
    const newcomers = ['5', '6', '7', '8'].map((subject) => begin(subject, `new ${subject}`, true));
    await settled();
    expect(org.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false]);
    expect(newcomers.map(({ hasBegun }) => hasBegun)).toEqual([true, true, true, false]);
    expect((await begin('9').first).value).toBe('row\n');
  });

  it('refuses an export whose turn does not come in time with 503; one that leaves the queue keeps no place', async () => {
    const { begin } = create({ atOnce: 1, waitMs: 1 });
    const running = begin('a');
    await running.first;
    await expect(begin('b').first).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds: 2,
    });
    await running.parts.return(undefined);
    expect((await begin('b').first).value).toBe('row\n');

    const patient = create({ atOnce: 1 });
    const before = patient.begin('a');
    await before.first;
    const gone = patient.begin('b');
    const left = gone.parts.return(undefined);
    const next = patient.begin('c');
    await before.parts.return(undefined);
    await left;
    expect((await next.first).value).toBe('row\n');
  });
});

describe('Lists of checkpoint leaves', () => {
  it('run four at once and two per address: a third is refused, and a fifth waits until one has ended', async () => {
    const turns = new StreamTurns(LEAVES);
    const begin = async (address: string) => {
      const parts = turns.take(tenantAt(address), endless());
      await parts.next();
      return parts;
    };
    const running = await Promise.all(['a', 'a', 'b', 'c'].map(begin));
    await expect(begin('a')).rejects.toMatchObject({
      code: 'RATE_LIMITED',
      message: expect.stringContaining('2 lists of leaves'),
    });
    let hasBegun = false;
    const fifth = begin('d').then(() => {
      hasBegun = true;
    });
    await settled();
    expect(hasBegun).toBe(false);
    await running[0]?.return(undefined);
    await fifth;
  });

  it('have 2 minutes, more in proportion beyond a million leaves; exports have 10 minutes', () => {
    const cutAfterMs = (limits: StreamLimits) =>
      new StreamTurns(limits).reply(tenantAt('a'), endless()).streamMs;
    expect([LEAVES, EXPORTS].map(cutAfterMs)).toEqual([120_000, 600_000]);
    expect([0, 1e6, 1e7].map(leavesMs)).toEqual([120_000, 120_000, 1_200_000]);
  });

  it('are refused with 503 if no place becomes free in time', async () => {
    const turns = new StreamTurns({ ...LEAVES, atOnce: 1, waitMs: 1 });
    await turns.take(tenantAt('a'), endless()).next();
    await expect(turns.take(tenantAt('b'), endless()).next()).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryAfterSeconds: 2,
    });
  });
});
