/**
 * Lists the pauses of what the caller owns, and those of its org and of the whole service that concern it (protocol
 * §9); newest first.
 */
import type { DidWeb } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import { encodeCursor, type Page, parseCursor, readPage } from '../paging/page.ts';
import type { PauseOwners, PauseRecord, PauseScope } from '../ports/pauses.ts';

export interface PauseListQuery {
  readonly scope?: PauseScope | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export const listPauses = async (
  deps: Pick<ServiceDeps, 'store'>,
  caller: Caller,
  { scope, limit, cursor }: PauseListQuery,
): Promise<Page<PauseRecord>> => {
  const owners = await ownersVisibleTo(deps, caller);
  const before = parseCursor(cursor, isSeq);
  const beforeSeq = before === undefined ? undefined : Number(before);
  const list = (rows: number) => deps.store.pauses.list({ owners, scope, beforeSeq, limit: rows });
  return readPage(limit, list, ({ seq }) => encodeCursor(String(seq)));
};

/** The owners whose pauses the caller may see; null means all. */
const ownersVisibleTo = async (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Caller,
): Promise<PauseOwners | null> => {
  const none: PauseOwners = { principals: [], relyingParties: [], orgs: [] };
  const ofOrg = (orgId: string | null) => (orgId === null ? [] : [orgId]);
  switch (caller.class) {
    case 'admin':
      return null;
    case 'principal':
      return { ...none, principals: [caller.subject], orgs: ofOrg(caller.orgId) };
    case 'rp':
      return { ...none, relyingParties: [caller.subject], orgs: ofOrg(caller.relyingParty.orgId) };
    case 'org': {
      const principals: readonly DidWeb[] = await store.principals.listDidsOfOrg(caller.subject);
      const relyingParties = (await store.relyingParties.listOfOrg(caller.subject)).map(({ did }) => did);
      return { principals, relyingParties, orgs: [caller.subject] };
    }
    default:
      throw forbidden('This key may not list pauses.');
  }
};

const isSeq = (text: string | null): text is string => text !== null && /^[1-9][0-9]{0,14}$/.test(text);
