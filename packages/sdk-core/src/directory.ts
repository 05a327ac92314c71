/** The Principal directory (interface §Endpoints, Principal lifecycle), which every live key may read. */

import { checkValue, rule } from './arguments.ts';
import type { CallOptions } from './call-options.ts';
import { SvcError } from './errors.ts';
import { iteratePages } from './pages.ts';
import { didWeb, type Reader } from './read.ts';
import { readPrincipalDirectory } from './readers.generated.ts';
import type { Transport } from './transport.ts';
import type { PrincipalDirectory, PrincipalDirectoryEntry } from './wire.generated.ts';

/** Which Principals to list. An absent member does not restrict the list. */
export interface DirectoryFilter {
  kind?: 'managed' | 'hosted';
  state?: 'verified' | 'unverified';
  /** Items per page, 1–200. */
  limit?: number;
}

/** `Found` is the record of one Principal that the service shows to the keys of this client. */
export interface Directory<Found> {
  /** Every matching Principal, in ascending order of DIDs. Pages are fetched as the list is consumed. */
  list(
    filter?: DirectoryFilter,
    options?: CallOptions,
  ): AsyncGenerator<PrincipalDirectoryEntry, void, undefined>;
  /** One page of the list; `next_cursor` is the `cursor` of the next page, null on the last one. */
  page(filter?: DirectoryFilter & { cursor?: string }, options?: CallOptions): Promise<PrincipalDirectory>;
  /**
   * One record by its DID.
   * @throws SvcError `refused` with status 404 if no such Principal is registered
   */
  get(did: string, options?: CallOptions): Promise<Found>;
}

const READING = { method: 'GET', hasEffect: false, hasDocuments: true } as const;

export function createDirectory<Found extends { did: string }>(
  transport: Transport,
  readFound: Reader<Found>,
): Directory<Found> {
  const page: Directory<Found>['page'] = async (filter = {}, call = {}) => {
    const sent = { ...READING, path: '/principals', query: { ...filter } };
    return readPrincipalDirectory((await transport.send({ ...sent, ...call })).body, 'the page');
  };
  return {
    page,
    list: (filter = {}, call = {}) =>
      iteratePages(
        (cursor) => page({ ...filter, ...cursor }, call),
        ({ principals }) => principals,
      ),
    async get(did, call = {}) {
      const path = `/principals/${didInPath(did)}`;
      const answer = await transport.send({ ...READING, path, ...call });
      const found = readFound(answer.body, 'the Principal');
      if (found.did !== did)
        throw new SvcError('bad-response', 'the service answered about another Principal', answer);
      return found;
    },
  };
}

const aDidWeb = rule(didWeb.what, didWeb.isMet);

/** The DID as one path segment: a `%3A` inside it becomes `%253A`. */
export function didInPath(did: string): string {
  checkValue('did', did, aDidWeb);
  return encodeURIComponent(did);
}
