/** Migration 0001: the whole schema of the first release, in the order in which its parts refer to each other. */
import { authority } from './authority.ts';
import { checkpoints } from './checkpoints.ts';
import { commit } from './commit.ts';
import { conformance } from './conformance.ts';
import { consumption } from './consumption.ts';
import { entitlements } from './entitlements.ts';
import { identities } from './identities.ts';
import { ledger } from './ledger.ts';
import { outcomes } from './outcomes.ts';
import { partitions } from './partitions.ts';
import { retention } from './retention.ts';
import { selfServe } from './self-serve.ts';
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
    selfServe,
    checkpoints,
    consumption,
    conformance,
    commit,
  ].join('\n'),
};
