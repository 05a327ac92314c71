/** Migration 0001: the whole schema of the first release, in the order in which its parts refer to each other. */
import { authority } from './authority.ts';
import { commit } from './commit.ts';
import { identities } from './identities.ts';
import { ledger } from './ledger.ts';
import { partitions } from './partitions.ts';

export const foundation = {
  name: '0001-foundation',
  sql: [identities, authority, ledger, partitions, commit].join('\n'),
};
