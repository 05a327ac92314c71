import type { DidWeb } from '@svc/protocol';
import { expect, it } from 'vitest';
import type { Caller } from '../access/caller.ts';
import { exclusiveKeyOfRelyingParty } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { updateRelyingParty } from './relying-parties.ts';
import { verifyRelyingParty } from './verify-relying-party.ts';

const did = 'did:web:shop.example' as DidWeb;
const admin: Caller = { class: 'admin', subject: null, keyId: null };

/** Exclusive keys of the transactions of `change`. */
const keysOf = async (change: (deps: ServiceDeps) => Promise<unknown>): Promise<readonly unknown[]> => {
  const keys: unknown[] = [];
  const claimed = { did, name: 'Shop', orgId: null, claimExpiresAtMs: 1, verificationToken: 'token' };
  const transaction = async (_work: unknown, how?: { readonly exclusiveKey?: string }) => {
    keys.push(how?.exclusiveKey);
    return claimed;
  };
  const store = { relyingParties: { find: async () => claimed }, transaction };
  await change({ store, domainProver: { check: async () => 'proven' } } as unknown as ServiceDeps);
  return keys;
};

it.each([
  ['settings', (deps: ServiceDeps) => updateRelyingParty(deps, admin, did, { name: 'Store' }, 'r')],
  ['claim', (deps: ServiceDeps) => verifyRelyingParty(deps, admin, did, 'r')],
])(
  'A change of a relying party’s %s waits without a connection for the other changes of it',
  async (_, change) => {
    expect(await keysOf(change)).toEqual([exclusiveKeyOfRelyingParty(did)]);
  },
);
