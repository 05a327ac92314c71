import { expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { handOverLogged } from './hand-over-again.ts';
import type { LoggedHandOver } from './read-log.ts';

const LOST_FROM_MS = 1e12;
const DID = 'did:web:moved.example';
const line: LoggedHandOver = {
  ...{ did: DID, kind: 'principal', sinceMs: 5, atMs: LOST_FROM_MS + 1 },
  ...{ fromOrg: 'org_former', toOrg: 'org_later' },
};

/** Number of DIDs that are handed over again. The backup has `DID`, registered at 5, in `org_former`. */
const follow = async (logged: LoggedHandOver): Promise<number> => {
  const here = { did: DID, kind: 'hosted', createdAtMs: 5, orgId: 'org_former', lastProvenMs: null };
  let changes = 0;
  const store = {
    principals: { find: async (did: string) => (did === DID ? here : null) },
    orgs: { exists: async () => true },
    transaction: async () => {
      changes += 1;
    },
    revocation: { passBarrier: async () => 0 },
  };
  const deps = { store, clock: { nowMs: () => LOST_FROM_MS } } as unknown as ServiceDeps;
  const { released, transferred } = await handOverLogged(deps, [logged], LOST_FROM_MS);
  expect(released + transferred).toBe(changes);
  return changes;
};

it.each<[string, number, Partial<LoggedHandOver>]>([
  ['of the lost span', 1, {}],
  ['that says released', 1, { toOrg: 'released' }],
  ['of a node whose clock is behind that of the database', 1, { atMs: LOST_FROM_MS - 9_000 }],
  ['from before the lost span', 0, { atMs: LOST_FROM_MS - 11_000 }],
  ['of an earlier registration of the DID', 0, { sinceMs: 4 }],
  ['from another org than the one that has the DID', 0, { fromOrg: 'org_other' }],
  ['of a DID that is not registered', 0, { did: 'did:web:gone.example' }],
])('a logged transfer %s is applied %d times', async (_, times, change) => {
  expect(await follow({ ...line, ...change })).toBe(times);
});
