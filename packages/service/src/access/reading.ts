/**
 * Whose data a caller may see or act on. Another subject's resource answers exactly as an absent one
 * (protocol §13).
 */
import type { DidWeb } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, invalidRequest, notFound } from '../errors.ts';
import type { Caller } from './caller.ts';

type Deps = Pick<ServiceDeps, 'store'>;

/** The Principals whose Grants the caller may list; null means all. `asked` narrows to one. */
export const principalsVisibleTo = async (
  { store }: Deps,
  caller: Caller,
  asked: DidWeb | undefined,
): Promise<readonly DidWeb[] | null> => {
  if (caller.class === 'admin') return asked === undefined ? null : [asked];
  if (caller.class === 'principal') {
    if (asked !== undefined && asked !== caller.subject)
      throw notFound(`No Principal ${asked} for this key.`);
    return [caller.subject];
  }
  if (caller.class !== 'org') throw forbidden('This key may not list Grants.');
  const members = await store.principals.listDidsOfOrg(caller.subject);
  if (asked === undefined) return members;
  if (!members.includes(asked)) throw notFound(`No Principal ${asked} for this key.`);
  return [asked];
};

/** The Principal the caller acts for: itself, or for an org:admin key the member named by `principal`. */
export const actingPrincipal = async (
  { store }: Deps,
  caller: Caller,
  asked: DidWeb | undefined,
): Promise<DidWeb> => {
  if (caller.class === 'principal') {
    if (asked !== undefined && asked !== caller.subject)
      throw forbidden('principal: a Principal key acts only for itself.');
    return caller.subject;
  }
  if (caller.class !== 'org' || caller.role !== 'admin')
    throw forbidden('A Principal key or an org:admin key is needed.');
  if (asked === undefined)
    throw invalidRequest('principal: required with an org key; name the member Principal');
  const principal = await store.principals.find(asked);
  if (principal === null || principal.orgId !== caller.subject)
    throw notFound(`No Principal ${asked} in this org.`);
  return principal.did;
};

/** True when the caller may read the settings and decisions of this relying party. */
export const mayReadRelyingParty = (
  caller: Caller,
  relyingParty: { readonly did: DidWeb; readonly orgId: string | null },
): boolean =>
  caller.class === 'admin' ||
  (caller.class === 'rp' && caller.subject === relyingParty.did) ||
  (caller.class === 'org' && relyingParty.orgId === caller.subject);
