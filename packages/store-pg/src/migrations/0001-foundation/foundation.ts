/** Migration 0001: the whole schema of the first release, in the order in which its parts refer to each other. */
import { authority } from './authority.ts';
import { checkpoints } from './checkpoints.ts';
import { commit } from './commit.ts';
import { entitlements } from './entitlements.ts';
import { identities } from './identities.ts';
import { ledger } from './ledger.ts';
import { outcomes } from './outcomes.ts';
import { partitions } from './partitions.ts';
import { retention } from './retention.ts';
import { usage } from './usage.ts';

export const foundation = {
  name: '0001-foundation',
  sql: [
    identities,
    authority,
    ledger,
    outcomes,
    partitions,
    retention,
    usage,
    entitlements,
    checkpoints,
    commit,
  ].join('\n'),
};
