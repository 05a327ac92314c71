import { generateKeyPairSync } from 'node:crypto';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type DidWeb, decodeBase64url, encodeMultikey, type Presented, type Sha256 } from '@svc/protocol';
import { expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import { FactLoader } from './facts.ts';

const NOW_MS = 1e12;
const DID = 'did:web:acme.example' as DidWeb;
const TENANT = { crowd: 'tenants', org: 'a', subject: 'a' } as const;

const { x } = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
const publicKeyMultibase = encodeMultikey(decodeBase64url(x ?? '') ?? new Uint8Array());

const recordOf = (did: DidWeb, changes: Partial<PrincipalRecord> = {}): PrincipalRecord =>
  ({
    ...{ did, kind: 'hosted', verificationState: 'verified', orgId: null, version: 1 },
    ...{ lastProvenMs: NOW_MS, lastCheckedMs: NOW_MS, claimExpiresAtMs: null, keys: [] },
    document: { hash: 'h', body: '{}', resolvedAtMs: NOW_MS },
    ...changes,
  }) as unknown as PrincipalRecord;

/** A Principal with a document of more than 64 KB, in which each of its keys ends. As storage gives it: nothing is shared. */
const withKeys = (did: DidWeb, number: number): PrincipalRecord => {
  const kids = Array.from({ length: number }, (_, i) => `${did}#${'k'.repeat(250)}${i}`);
  const expires = '2100-01-01T00:00:00Z';
  const assertionMethod = kids.map((id) => ({
    ...{ id, type: 'Multikey', controller: did },
    expires,
    publicKeyMultibase,
  }));
  const body = JSON.stringify({ id: did, assertionMethod, note: '-'.repeat(64_000) });
  const keys = kids.map((kid) => ({
    kid,
    publicKeyMultibase,
    state: 'active',
    sinceMs: NOW_MS,
    withdrawnMs: null,
  }));
  return recordOf(did, {
    keys: JSON.parse(JSON.stringify(keys)),
    document: { hash: 'h' as Sha256, body, resolvedAtMs: NOW_MS },
  });
};

/** A loader, and what it does. `record` gives the Principal as stored; no host has a document. */
const worldOf = (record: (did: DidWeb) => PrincipalRecord, maxBytes?: number) => {
  const done = { reads: 0, parses: 0, asks: 0, waits: 0 };
  /** Counts how often the text of the document is read. */
  const counted = (did: DidWeb): PrincipalRecord => {
    const { document, ...rest } = record(did);
    if (document === null) return { ...rest, document };
    const { body, ...evidence } = document;
    const stored = {
      ...evidence,
      get body() {
        done.parses += 1;
        return body;
      },
    };
    return { ...rest, document: stored };
  };
  const store = {
    verify: {
      findFacts: async (queries: readonly { readonly issuer: DidWeb | null }[]) => {
        const found = new Map<DidWeb, PrincipalRecord>();
        return queries.map(({ issuer }) => {
          if (issuer === null) return { principal: null, grant: null };
          const principal = found.get(issuer) ?? counted(issuer);
          found.set(issuer, principal);
          return { principal, grant: null };
        });
      },
    },
    principals: {
      find: async (did: DidWeb) => {
        done.reads += 1;
        return counted(did);
      },
    },
    orgs: { isNewcomer: async () => false },
  };
  const resolve = async () => {
    done.asks += 1;
    return { kind: 'invalid', problem: 'none' };
  };
  const deps = {
    store: { ...store, as: () => store },
    ...{ clock: { nowMs: () => NOW_MS }, identity: {}, crypto: {}, log: { warn: () => {} } },
    didResolver: { resolve },
  } as unknown as ServiceDeps;
  const loader = new FactLoader(deps, maxBytes);
  const presentedOf = (did: DidWeb) =>
    ({ grant: { ok: true, value: { issuer: did, id: 'urn:1', kid: `${did}#1` } } }) as unknown as Presented;
  const noteRemoteWait = () => {
    done.waits += 1;
  };
  return {
    done,
    loader,
    load: (did: DidWeb = DID) =>
      loader.load({ presented: presentedOf(did), tenant: TENANT, noteRemoteWait }, false),
    forget: (did: DidWeb = DID) => loader.forget(presentedOf(did)),
  };
};

const agedBy = (ageMs: number) => (did: DidWeb) =>
  recordOf(did, { document: { hash: 'h' as Sha256, body: '{}', resolvedAtMs: NOW_MS - ageMs } });

it.each([
  ['a document that is to be fetched again', 3_600_000, 1],
  ['a fresh document', 0, 0],
])('noteRemoteWait is called only if the document must be fetched again: %s', async (_, ageMs, waits) => {
  const { load, done } = worldOf(agedBy(ageMs));
  await load();
  expect(done).toMatchObject({ asks: waits, waits });
});

it('while a host fails, verifications by a document that may still be used read nothing and wait for nothing', async () => {
  const { load, done } = worldOf(agedBy(600_000));
  for (let i = 0; i < 100; i++) await load();
  expect(done).toEqual({ asks: 1, reads: 1, parses: 1, waits: 1 });
});

it('while a host fails, a document that is too old is looked for in storage, and no wait for the host is noted', async () => {
  const { load, done } = worldOf(agedBy(3_600_001));
  for (let i = 0; i < 3; i++) await load();
  expect(done).toEqual({ asks: 1, reads: 3, parses: 1, waits: 1 });
});

it('a host is not waited for where storage has a newer document', async () => {
  const stored = [recordOf(DID), agedBy(600_000)(DID)];
  const { load, done } = worldOf(() => stored.pop() ?? recordOf(DID));
  await load();
  expect(done).toMatchObject({ asks: 0, reads: 1, waits: 0 });
});

it('the document of a Principal is parsed once for all requests that wait for it', async () => {
  const { load, done } = worldOf((did) => withKeys(did, 1));
  const loaded = await Promise.all(Array.from({ length: 65 }, () => load()));
  expect(done.parses).toBe(1);
  expect(loaded.every(({ facts }) => facts.document?.answer === 'found')).toBe(true);
});

it('a Principal that is forgotten is read again, and its document is parsed again only if it has changed', async () => {
  let record = withKeys(DID, 1);
  const { load, forget, done } = worldOf(() => record);
  const versionAfterwards = async () => {
    forget();
    return (await load()).usedPrincipal?.version;
  };
  await load();
  record = { ...withKeys(DID, 1), version: 2 };
  expect(await versionAfterwards()).toBe(2);
  expect(done.parses).toBe(1);
  record = recordOf(DID, { version: 3, document: { ...agedBy(0)(DID).document, hash: 'i' } as never });
  expect(await versionAfterwards()).toBe(3);
  expect(done.parses).toBe(2);
});

it('a key that is recorded later is found in the same document', async () => {
  const { keys } = withKeys(DID, 1);
  let record = { ...withKeys(DID, 1), keys: [] as typeof keys };
  const { load, forget } = worldOf(() => record);
  const listed = async () => {
    const { document } = (await load()).facts;
    return document?.answer === 'found' ? [...document.value.document.assertionKeys.keys()] : null;
  };
  expect(await listed()).toEqual([]);
  record = { ...record, keys };
  forget();
  expect(await listed()).toEqual(keys.map(({ kid }) => kid));
});

it('the cache of Principals is bounded in bytes', async () => {
  const { load, loader } = worldOf((did) => withKeys(did, 40), 500_000);
  for (let i = 0; i < 20; i++) await load(`did:web:${i}.example` as DidWeb);
  expect(loader.size).toBeGreaterThan(250_000);
  expect(loader.size).toBeLessThanOrEqual(500_000);
});

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

const heap = () => {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

it.each([1, 40])(
  'a cached Principal takes at most the bytes that are counted, without the text of its document: %i keys',
  async (number) => {
    /** By how many bytes the counted size exceeds the memory used. */
    const measure = async (): Promise<number> => {
      const { load, loader } = worldOf((did) => withKeys(did, number));
      await load();
      const before = [heap(), loader.size] as const;
      for (let i = 0; i < 60; i++) await load(`did:web:${i}.example` as DidWeb);
      const after = [heap(), loader.size] as const;
      expect(after[1] - before[1]).toBeGreaterThan(0);
      return after[1] - before[1] - (after[0] - before[0]);
    };
    const margins = [await measure()];
    // Other work of the process may disturb one measurement, or two.
    while (margins.length < 3 && margins.every((bytes) => bytes <= 0)) margins.push(await measure());
    expect(Math.max(...margins)).toBeGreaterThan(0);
  },
);
