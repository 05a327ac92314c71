import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tenant } from '../ports/tenant.ts';
import { FairLimiter, type FairLimiterOptions } from './fair-limiter.ts';

const tenant = (org: string, subject = org): Tenant => ({ crowd: 'tenants', org, subject });
const newcomer = (org: string): Tenant => ({ crowd: 'newcomers', org, subject: org });
const visitor = (address: string): Tenant => ({ crowd: 'public', org: address, subject: address });

const queueWith = (options: Partial<FairLimiterOptions> = {}) =>
  new FairLimiter({
    atOnce: 1,
    atOncePerOrg: 100,
    maxWaiting: 1_000,
    waitMs: 60_000,
    refuse: (why) => new Error(why),
    ...options,
  });

/** Work that runs until the test ends it, and a list of the work that has begun. */
const heldWork = (queue: FairLimiter) => {
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const start = (name: string, who: Tenant | null, exclusiveKey?: string) =>
    queue.run({ tenant: who, exclusiveKey }, () => {
      begun.push(name);
      return new Promise<void>((end) => void ends.set(name, end));
    });
  /** Ends the work, and lets the next one begin. */
  const end = async (name: string) => {
    ends.get(name)?.();
    await new Promise(setImmediate);
  };
  return { begun, start, end };
};

describe('a fair limiter', () => {
  it('gives turns to orgs, and within an org to its subjects, regardless of how much work each submits', async () => {
    const { begun, start, end } = heldWork(queueWith());
    const all = [start('first', tenant('flood'))];
    for (let i = 1; i <= 4; i++) all.push(start(`flood ${i}`, tenant('flood', 'stolen')));
    all.push(start('org key', tenant('flood', 'org')), start('victim 1', tenant('victim')));
    all.push(start('victim 2', tenant('victim')));
    for (const name of [
      'first',
      'flood 1',
      'victim 1',
      'org key',
      'victim 2',
      'flood 2',
      'flood 3',
      'flood 4',
    ])
      await end(name);
    await Promise.all(all);
    expect(begun).toEqual([
      ...['first', 'flood 1', 'victim 1', 'org key', 'victim 2', 'flood 2', 'flood 3', 'flood 4'],
    ]);
  });

  it('begins work of several tenants once, at the first turn of any of them', async () => {
    const waitedFor = queueWith();
    const { begun, start, end } = heldWork(waitedFor);
    const all = [start('first', tenant('flood'))];
    for (let i = 1; i <= 4; i++) all.push(start(`flood ${i}`, tenant('flood')));
    const shared = waitedFor.runForAny(
      [{ tenant: tenant('flood') }, { tenant: tenant('victim') }],
      async () => {
        begun.push('shared');
        return 'done';
      },
    );
    await end('first');
    await end('flood 1');
    expect(await shared).toBe('done');
    for (const name of ['flood 2', 'flood 3', 'flood 4']) await end(name);
    await Promise.all(all);
    expect(begun).toEqual(['first', 'flood 1', 'shared', 'flood 2', 'flood 3', 'flood 4']);
    expect(waitedFor.waiting).toBe(0);
  });

  it('forgets work of several tenants once it is done, even if another of them had no free place when it began', async () => {
    const queue = queueWith({ atOnce: 2, atOncePerOrg: 1 });
    const { start, end } = heldWork(queue);
    const other = start('other', tenant('b'));
    const shared = queue.runForAny([{ tenant: tenant('a') }, { tenant: tenant('b') }], async () => 'done');
    expect(queue.waiting).toBe(0);
    expect(await shared).toBe('done');
    await end('other');
    await other;
  });

  it('begins no work whose signal is already aborted, whether a place is free or not', async () => {
    const queue = queueWith();
    const { begun, start, end } = heldWork(queue);
    const late = () =>
      queue.run(
        { tenant: tenant('a') },
        async () => begun.push('late'),
        AbortSignal.abort(new Error('late')),
      );
    await expect(late()).rejects.toThrow('late');
    const first = start('first', tenant('b'));
    await expect(late()).rejects.toThrow('late');
    await end('first');
    await first;
    expect(begun).toEqual(['first']);
  });

  it('refuses work of several tenants if none of them may wait, and passes on a failure of such work', async () => {
    const full = queueWith({ maxWaiting: 0 });
    const { start, end } = heldWork(full);
    const first = start('first', tenant('a'));
    const never = () => Promise.reject(new Error('begun'));
    await expect(full.runForAny([{ tenant: tenant('a') }, { tenant: tenant('b') }], never)).rejects.toThrow(
      'too many wait',
    );
    await end('first');
    await first;
    await expect(full.runForAny([{ tenant: tenant('a') }], never)).rejects.toThrow('begun');
    expect(await full.runForAny([{ tenant: tenant('b') }], async () => 1)).toBe(1);
  });

  it('divides turns equally among the service, its tenants and the public, whatever their numbers', async () => {
    const { begun, start, end } = heldWork(queueWith());
    const all = [start('first', null)];
    for (let i = 0; i < 3; i++) all.push(start(`visitor ${i}`, visitor(`10.0.0.${i}`)));
    for (let i = 0; i < 3; i++) all.push(start(`tenant ${i}`, tenant(`org ${i}`)));
    for (let i = 0; i < 3; i++) all.push(start(`service ${i}`, null));
    await end('first');
    for (let i = 0; i < 9; i++) await end(begun.at(-1) ?? '');
    await Promise.all(all);
    const crowds = begun.slice(1).map((name) => name.split(' ')[0]);
    for (let i = 0; i < 9; i += 3)
      expect(crowds.slice(i, i + 3).sort()).toEqual(['service', 'tenant', 'visitor']);
  });

  it('gives every second turn to a customer, even if 200 orgs of newcomers wait', async () => {
    const { begun, start, end } = heldWork(queueWith());
    const all = [start('first', newcomer('young'))];
    for (let i = 0; i < 200; i++) all.push(start(`young ${i}`, newcomer(`org ${i}`)));
    for (let i = 0; i < 5; i++) all.push(start(`customer ${i}`, tenant(`customer ${i}`)));
    for (let i = 0; i < 11; i++) await end(begun.at(-1) ?? '');
    const order = begun.slice(1, 11).map((name) => name.split(' ')[0]);
    expect(order.filter((_, i) => i % 2 === 1)).toEqual(Array(5).fill('customer'));
    while (begun.length < all.length) await end(begun.at(-1) ?? '');
    await end(begun.at(-1) ?? '');
    await Promise.all(all);
  });

  it('keeps one place and half of the queue free of newcomers', async () => {
    const { begun, start, end } = heldWork(queueWith({ atOnce: 3, atOncePerOrg: 2, maxWaiting: 4 }));
    const all = [1, 2, 3, 4].map((i) => start(`young ${i}`, newcomer(`org ${i}`)));
    await expect(start('young 5', newcomer('org 5'))).rejects.toThrow('too many newcomers wait');
    all.push(start('customer', tenant('customer')));
    expect(begun).toEqual(['young 1', 'young 2', 'customer']);
    for (const name of ['customer', 'young 1', 'young 2', 'young 3', 'young 4']) await end(name);
    await Promise.all(all);
  });

  it('runs work with the same exclusive key one after another, and other work meanwhile', async () => {
    const { begun, start, end } = heldWork(queueWith({ atOnce: 2 }));
    const all = [start('a1', tenant('a'), 'list'), start('a2', tenant('a'), 'list')];
    all.push(start('b1', tenant('b'), 'other'));
    expect(begun).toEqual(['a1', 'b1']);
    await end('b1');
    expect(begun).toEqual(['a1', 'b1']);
    await end('a1');
    expect(begun).toEqual(['a1', 'b1', 'a2']);
    await end('a2');
    await Promise.all(all);
  });

  it('keeps a place free that a single org cannot take', async () => {
    const { begun, start, end } = heldWork(queueWith({ atOnce: 3, atOncePerOrg: 2 }));
    const all = [1, 2, 3].map((i) => start(`flood ${i}`, tenant('flood', `member ${i}`)));
    all.push(start('victim', tenant('victim')));
    expect(begun).toEqual(['flood 1', 'flood 2', 'victim']);
    for (const name of ['victim', 'flood 1', 'flood 2', 'flood 3']) await end(name);
    await Promise.all(all);
  });

  it('refuses work that finds the queue full or waits too long, and forgets work whose caller gives up', async () => {
    const { start, end } = heldWork(queueWith({ maxWaiting: 2, waitMs: 20 }));
    const first = start('first', null);
    const waiting = ['late', 'second'].map((name) =>
      start(name, null).catch((error: Error) => error.message),
    );
    await expect(start('third', null)).rejects.toThrow('too many wait');
    for (const message of await Promise.all(waiting)) expect(message).toContain('within 20 ms');
    await end('first');
    await first;
    const controller = new AbortController();
    const queue = queueWith();
    const held = heldWork(queue);
    const before = held.start('before', null);
    const gone = queue.run({ tenant: null }, async () => 'done', controller.signal);
    controller.abort(new Error('gone'));
    await expect(gone).rejects.toThrow('gone');
    await held.end('before');
    await before;
    expect(await queue.run({ tenant: null }, async () => 'next')).toBe('next');
  });

  it('runs all work within its limits in total, per org and per exclusive key', async () => {
    const one = fc.record({ org: fc.nat(3), key: fc.option(fc.nat(2)), fails: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(one, { maxLength: 30 }), fc.scheduler(), async (entrants, scheduler) => {
        const queue = queueWith({ atOnce: 3, atOncePerOrg: 2 });
        const inside: (typeof entrants)[number][] = [];
        const works = entrants.map((entrant) =>
          queue.run(
            {
              tenant: tenant(`${entrant.org}`),
              exclusiveKey: entrant.key === null ? undefined : `${entrant.key}`,
            },
            async () => {
              inside.push(entrant);
              expect(inside.length).toBeLessThanOrEqual(3);
              expect(inside.filter(({ org }) => org === entrant.org).length).toBeLessThanOrEqual(2);
              const sameKey = inside.filter(({ key }) => key !== null && key === entrant.key);
              expect(sameKey.length).toBeLessThanOrEqual(1);
              await scheduler.schedule(Promise.resolve());
              inside.splice(inside.indexOf(entrant), 1);
              if (entrant.fails) throw new Error('failed');
            },
          ),
        );
        const settled = Promise.allSettled(works);
        await scheduler.waitFor(settled);
        expect((await settled).map(({ status }) => status === 'rejected')).toEqual(
          entrants.map(({ fails }) => fails),
        );
      }),
    );
  });
});
