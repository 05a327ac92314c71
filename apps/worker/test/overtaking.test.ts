/**
 * Checks and fetches that overlap, on one database: the result of an earlier request never overwrites that of a later
 * one. The test controls when outside hosts answer.
 */

import type { DidWeb } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  checkDomain,
  DatabaseClock,
  type DidResolution,
  type DomainProof,
  Holds,
  pooledRandom,
  refreshHostedDocument,
  reverifyDomains,
  type ServiceDeps,
  type Store,
  StoreError,
  SYSTEM,
} from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { openStore } from '@svc/testkit/store/open-store';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { insertHosted } from './harness.ts';

const database = withDatabase();
const log = { info: () => {}, warn: () => {}, error: () => {} };
let store: Store;
let clock: DatabaseClock;
beforeAll(async () => {
  store = openStore(database.url);
  clock = await DatabaseClock.start({ store, holds: new Holds(log), log });
});
afterAll(async () => {
  clock?.stop();
  await store?.close();
});

const UNREACHABLE: DidResolution = { kind: 'unreachable', problem: 'nobody there' };

/** A node of the deployment, with its own outside hosts. */
const node = (outside: {
  prove?: () => Promise<DomainProof>;
  resolve?: () => Promise<DidResolution>;
}): ServiceDeps => ({
  store,
  clock,
  holds: new Holds(log),
  random: pooledRandom(),
  crypto: nativeCrypto,
  log,
  domainProver: { check: outside.prove ?? (async () => 'unknown') },
  entitlements: undefined as never,
  webhookSecrets: undefined as never,
  selfTestOrgs: [],
  maxLiveKeys: 20,
  maxChangesWithoutPlan: 1,
  maxMembers: 200,
  mappedHosts: new Set(),
  findUrlRefusal: () => null,
  didResolver: { resolve: outside.resolve ?? (async () => UNREACHABLE) },
  // No check needs the identity of the service.
  identity: undefined as never,
});

const principalOf = async (did: DidWeb) => {
  const principal = await store.principals.find(did);
  if (principal === null) throw new Error('not found');
  return principal;
};
const checking = { actor: SYSTEM, requestId: null, auditAlways: false };
const check = async (deps: ServiceDeps, did: DidWeb) => checkDomain(deps, await principalOf(did), checking);

/** A request that is pending until `answer` is called. */
const question = <T>() => {
  let answer = (_: T) => {};
  let asked = () => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const answered = new Promise<T>((resolve) => {
    answer = resolve;
  });
  const ask = () => {
    asked();
    return answered;
  };
  return { ask, isAsked, answer: (value: T) => answer(value) };
};

describe('checks of a domain', () => {
  it('do not restore the verification with a proof that was seen before its loss was recorded', async () => {
    const { did } = await insertHosted(store);
    expect((await check(node({ prove: async () => 'proven' }), did))?.from).toBe('unverified');
    const early = question<DomainProof>();
    const slow = check(node({ prove: early.ask }), did);
    await early.isAsked;
    await check(node({ prove: async () => 'absent' }), did);
    early.answer('proven');
    expect(await slow).toBeNull();
    expect((await principalOf(did)).verificationState).toBe('unverified');
  });

  it('that agree are both recorded', async () => {
    const { did } = await insertHosted(store);
    const both = [question<DomainProof>(), question<DomainProof>()];
    const results = Promise.all(both.map(({ ask }) => check(node({ prove: ask }), did)));
    for (const { isAsked, answer } of both) {
      await isAsked;
      answer('absent');
    }
    expect((await results).map((checked) => checked?.principal.verificationState)).toEqual([
      'unverified',
      'unverified',
    ]);
  });

  it('are audited once per Principal, even if three rounds run at once without a lock', async () => {
    const dids = await Promise.all(Array.from({ length: 25 }, async () => (await insertHosted(store)).did));
    const proving = node({ prove: async () => 'proven' });
    const rounds = await Promise.all(
      [0, 1, 2].map(() => reverifyDomains(proving, new AbortController().signal)),
    );
    expect(rounds.reduce((sum, { changed }) => sum + changed, 0)).toBeGreaterThanOrEqual(dids.length);
    for (const did of dids) {
      const events = await store.audit.list({ scope: null, target: did, limit: 10 });
      expect(events.map(({ details }) => [details.from, details.to])).toEqual([['unverified', 'verified']]);
    }
  });

  /** A node with these repository methods for Principals, which finds no proof. */
  const failingNode = (principals: Partial<ServiceDeps['store']['principals']>): ServiceDeps => ({
    ...node({ prove: async () => 'absent' }),
    store: { ...store, principals: { ...store.principals, ...principals } },
  });

  it('that cannot be recorded fail alone and stay due', async () => {
    const { did: broken } = await insertHosted(store);
    const { did: sound } = await insertHosted(store);
    const failing = failingNode({
      find: (did) =>
        did === broken ? Promise.reject(new StoreError('refused', 'no')) : store.principals.find(did),
    });
    expect(await reverifyDomains(failing, new AbortController().signal)).toMatchObject({ failed: 1 });
    expect((await principalOf(broken)).lastCheckedMs).toBeNull();
    expect((await principalOf(sound)).lastCheckedMs).not.toBeNull();
  });

  it('end their round after a thousand that could not be recorded', async () => {
    const { did } = await insertHosted(store);
    const host = await principalOf(did);
    const limits: number[] = [];
    const failing = failingNode({
      find: () => Promise.reject(new StoreError('refused', 'no')),
      listDueForVerification: async (limit) => {
        limits.push(limit);
        return Array.from({ length: limit }, (_, i) => ({ ...host, did: `${did}:${i}` as DidWeb }));
      },
    });
    expect(await reverifyDomains(failing, new AbortController().signal)).toMatchObject({ failed: 1_000 });
    expect(Math.max(...limits)).toBe(1_100);
  });
});

describe('fetches of a DID document', () => {
  const documentText = (did: DidWeb, mark: string) => JSON.stringify({ id: did, mark });
  const resolved = (did: DidWeb, mark: string): DidResolution => ({
    kind: 'resolved',
    text: documentText(did, mark),
    keys: [{ kid: `${did}#${mark}`, publicKeyMultibase: 'z6MkKey' }],
  });

  /** A request in the same millisecond counts as earlier. */
  const untilLaterThan = async (did: DidWeb) => {
    const { document } = await principalOf(did);
    while (clock.nowMs() <= (document?.resolvedAtMs ?? 0)) await new Promise(setImmediate);
  };

  it('that began before the document in force was fetched are repeated', async () => {
    const { did } = await insertHosted(store);
    const early = question<DidResolution>();
    const answers = [early.ask, async () => resolved(did, 'newest')];
    const slow = refreshHostedDocument(
      node({ resolve: () => (answers.shift() ?? early.ask)() }),
      await principalOf(did),
    );
    await early.isAsked;
    const quick = node({ resolve: async () => resolved(did, 'new') });
    await refreshHostedDocument(quick, await principalOf(did));
    await untilLaterThan(did);
    early.answer(resolved(did, 'old'));
    expect((await slow).kind).toBe('stored');
    const { document, keys } = await principalOf(did);
    expect(document?.body).toBe(documentText(did, 'newest'));
    expect(keys.map(({ kid }) => kid).toSorted()).toEqual([`${did}#new`, `${did}#newest`]);
  });

  it('that find the same document change its date, but not the version that decisions rest on', async () => {
    const { did } = await insertHosted(store);
    const deps = node({ resolve: async () => resolved(did, 'same') });
    await refreshHostedDocument(deps, await principalOf(did));
    const before = await principalOf(did);
    await untilLaterThan(did);
    await refreshHostedDocument(deps, before);
    const after = await principalOf(did);
    expect(after.version).toBe(before.version);
    expect(after.document?.resolvedAtMs).toBeGreaterThan(before.document?.resolvedAtMs ?? 0);
  });
});
