import type { DidWeb, Presented } from '@svc/protocol';
import { expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import { FactLoader } from './facts.ts';

const NOW_MS = 1e12;
const DID = 'did:web:acme.example' as DidWeb;

/** A loader with a Principal whose document was resolved `ageMs` ago, and whose host has no document now. */
const loaderOf = (ageMs: number) => {
  const principal = {
    ...{ did: DID, kind: 'hosted', verificationState: 'verified', orgId: null, keys: [], version: 1 },
    ...{ lastProvenMs: NOW_MS, lastCheckedMs: NOW_MS, claimExpiresAtMs: null },
    document: { hash: 'h', body: '{}', resolvedAtMs: NOW_MS - ageMs },
  } as unknown as PrincipalRecord;
  const store = {
    verify: { findFacts: async () => [{ principal, grant: null }] },
    principals: { find: async () => principal },
    orgs: { isNewcomer: async () => false },
  };
  return new FactLoader({
    store: { ...store, as: () => store },
    ...{ clock: { nowMs: () => NOW_MS }, identity: {}, crypto: {}, log: { warn: () => {} } },
    didResolver: { resolve: async () => ({ kind: 'invalid', problem: 'none' }) },
  } as unknown as ServiceDeps);
};

const presented = { grant: { ok: true, value: { issuer: DID, id: 'urn:1', kid: `${DID}#key-1` } } };

it.each([
  ['a document that is to be fetched again', 3_600_000, true],
  ['a fresh document', 0, false],
])('noteRemoteWait is called only if the document must be fetched again: %s', async (_, ageMs, isTold) => {
  let told = false;
  const noteRemoteWait = () => {
    told = true;
  };
  const tenant = { crowd: 'tenants', org: 'a', subject: 'a' } as const;
  const asking = { presented: presented as unknown as Presented, tenant, noteRemoteWait };
  await loaderOf(ageMs).load(asking, false);
  expect(told).toBe(isTold);
});
