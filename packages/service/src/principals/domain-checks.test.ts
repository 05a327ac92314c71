import type { DidWeb } from '@svc/protocol';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { DomainChecks } from './domain-checks.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** Domain checks whose hosts never answer. */
const checksOf = () => {
  const asked: string[] = [];
  let isStorageSlow = false;
  const ask = ({ did }: { readonly did: string }) => {
    asked.push(did);
    return new Promise(() => {});
  };
  const find = async (did: string) =>
    isStorageSlow ? new Promise(() => {}) : { did, kind: 'hosted', orgId: did.split(':').at(-1) };
  const store = { principals: { find }, orgs: { isNewcomer: async () => false } };
  const deps = {
    ...{ store, clock: { nowMs: () => 0 }, domainProver: { check: ask } },
    didResolver: { resolve: () => new Promise(() => {}) },
  } as unknown as ServiceDeps;
  const checks = new DomainChecks();
  /** `org` asks for a Principal of `owner`. */
  const verify = async (name: string, org: string, isNewcomer = false, owner = org): Promise<void> => {
    const caller = { class: 'org', role: 'admin', subject: org, isNewcomer } as unknown as Caller;
    const did = `did:web:${name}.example:${owner}` as DidWeb;
    void checks.verify(deps, caller, did, 'r').catch(() => {});
    await vi.advanceTimersByTimeAsync(0);
  };
  const askedOf = (name: string) => asked.filter((did) => did.startsWith(`did:web:${name}`)).length;
  const setStorageSlow = (isSlow: boolean) => {
    isStorageSlow = isSlow;
  };
  return { verify, askedOf, setStorageSlow };
};

it('an org whose hosts never answer has two checks at once, and all newcomers together have two', async () => {
  const { verify, askedOf } = checksOf();
  for (let i = 0; i < 60; i++) {
    await verify(`slow${i}`, 'org_hostile');
    await verify(`newcomer${i}`, `org_newcomer_${i}`, true);
  }
  expect([askedOf('slow'), askedOf('newcomer')]).toEqual([2, 2]);
  await verify('good', 'org_good');
  expect(askedOf('good')).toBe(1);
});

it('an org has at most one check of the same Principal at once', async () => {
  const { verify, askedOf } = checksOf();
  for (let i = 0; i < 3; i++) await verify('same', 'org_own');
  expect(askedOf('same')).toBe(1);
});

it('requests of another org for the same Principal do not delay the check of its own org', async () => {
  const { verify, askedOf, setStorageSlow } = checksOf();
  // Storage does not answer, so the requests of the other org do not end.
  setStorageSlow(true);
  for (let i = 0; i < 3; i++) await verify('same', 'org_hostile', false, 'org_own');
  setStorageSlow(false);
  await verify('same', 'org_own');
  expect(askedOf('same')).toBe(1);
});
