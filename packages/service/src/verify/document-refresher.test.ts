import type { DidWeb } from '@svc/protocol';
import { expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import { DocumentRefresher } from './document-refresher.ts';

const principalOf = (did: string): PrincipalRecord =>
  ({
    did: did as DidWeb,
    kind: 'hosted',
    verificationState: 'verified',
    orgId: did.includes('slow') ? 'org_slow' : did.includes('newcomer') ? `org_${did}` : null,
    document: null,
  }) as unknown as PrincipalRecord;

/** A refresher for which hosts named `slow` and hosts of newcomers never answer. */
const refresherWith = () => {
  const asked: string[] = [];
  const store = {
    principals: { find: async (did: string) => principalOf(did) },
    orgs: { isNewcomer: async (orgId: string) => orgId.includes('newcomer') },
  };
  const deps = {
    store: { ...store, as: () => store },
    clock: { nowMs: () => 1e12 },
    log: { warn: () => {} },
    didResolver: {
      resolve: (did: string) => {
        asked.push(did);
        return /slow|newcomer/.test(did)
          ? new Promise(() => {})
          : Promise.resolve({ kind: 'invalid', problem: 'none' });
      },
    },
  } as unknown as ServiceDeps;
  return { refresher: new DocumentRefresher(deps), asked };
};

it('an org whose hosts never answer does not prevent fetches for other Principals', async () => {
  const { refresher, asked } = refresherWith();
  for (let i = 0; i < 60; i++) void refresher.refresh(principalOf(`did:web:slow${i}.example`), () => {});
  await new Promise(setImmediate);
  await refresher.refresh(principalOf('did:web:good.example'), () => {});
  expect(asked.filter((did) => did.includes('slow'))).toHaveLength(4);
  expect(asked.at(-1)).toBe('did:web:good.example');
});

it('newcomers whose hosts never answer do not prevent fetches for other Principals, however many orgs they have', async () => {
  const { refresher, asked } = refresherWith();
  for (let i = 0; i < 60; i++) void refresher.refresh(principalOf(`did:web:newcomer${i}.example`), () => {});
  await new Promise(setImmediate);
  await refresher.refresh(principalOf('did:web:good.example'), () => {});
  expect(asked.filter((did) => did.includes('newcomer'))).toHaveLength(4);
  expect(asked.at(-1)).toBe('did:web:good.example');
});
