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
  const ask = ({ did }: { readonly did: string }) => {
    asked.push(did);
    return new Promise(() => {});
  };
  const find = async (did: string) => ({ did, kind: 'hosted', orgId: did.split(':').at(-1) });
  const store = { principals: { find }, orgs: { isNewcomer: async () => false } };
  const deps = {
    ...{ store, clock: { nowMs: () => 0 }, domainProver: { check: ask } },
    didResolver: { resolve: () => new Promise(() => {}) },
  } as unknown as ServiceDeps;
  const checks = new DomainChecks();
  const verify = async (name: string, org: string, isNewcomer = false): Promise<void> => {
    const caller = { class: 'org', role: 'admin', subject: org, isNewcomer } as unknown as Caller;
    const did = `did:web:${name}.example:${org}` as DidWeb;
    void checks.verify(deps, caller, did, 'r').catch(() => {});
    await vi.advanceTimersByTimeAsync(0);
  };
  const askedOf = (name: string) => asked.filter((did) => did.startsWith(`did:web:${name}`)).length;
  return { verify, askedOf };
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
