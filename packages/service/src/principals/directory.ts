/**
 * Reading Principals (interface §GET /principals, §GET /principals/{did}). Every live key may read the directory; the
 * record with the verification token is for the Principal itself, its org and the operator.
 */
import type { DidWeb, OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, notFound } from '../errors.ts';
import type { PrincipalKind, PrincipalRecord, VerificationState } from '../ports/principals.ts';

type Deps = Pick<ServiceDeps, 'store'>;

export interface PrincipalListQuery {
  readonly kind?: PrincipalKind | undefined;
  readonly state?: VerificationState | undefined;
  readonly org_id?: OrgId | undefined;
  readonly limit: number;
  /** The last DID of the page before. */
  readonly cursor?: DidWeb | undefined;
}

export interface PrincipalPage {
  readonly principals: readonly PrincipalRecord[];
  readonly nextCursor: DidWeb | null;
}

export const listPrincipals = async (
  { store }: Deps,
  caller: Caller,
  { kind, state, org_id: orgId, limit, cursor }: PrincipalListQuery,
): Promise<PrincipalPage> => {
  if (orgId !== undefined) requireOrg(caller, orgId);
  const rows = await store.principals.list({
    ...(kind === undefined ? {} : { kind }),
    ...(state === undefined ? {} : { state }),
    ...(orgId === undefined ? {} : { orgId }),
    ...(cursor === undefined ? {} : { afterDid: cursor }),
    limit: limit + 1,
  });
  const principals = rows.slice(0, limit);
  const last = rows.length > limit ? principals.at(-1) : undefined;
  return { principals, nextCursor: last?.did ?? null };
};

/** Who is in which org is for that org and the operator; another org answers exactly as an absent one. */
const requireOrg = (caller: Caller, orgId: OrgId): void => {
  if (caller.class === 'admin') return;
  if (caller.class !== 'org') throw forbidden('org_id: only for keys of that org and the operator.');
  if (caller.subject !== orgId) throw notFound(`No org ${orgId} for this key.`);
};

/** `isFull`: the caller may see the whole record, not the directory entry alone. */
export const getPrincipal = async (
  { store }: Deps,
  caller: Caller,
  did: DidWeb,
): Promise<{ readonly principal: PrincipalRecord; readonly isFull: boolean }> => {
  const principal = await store.principals.find(did);
  if (principal === null) throw notFound(`No Principal ${did}.`);
  return { principal, isFull: mayReadFull(caller, principal) };
};

const mayReadFull = (caller: Caller, { did, orgId }: PrincipalRecord): boolean =>
  caller.class === 'admin' ||
  (caller.class === 'principal' && caller.subject === did) ||
  (caller.class === 'org' && caller.subject === orgId);

/** Sets whether the Principal consents to be named on the public metrics page. No decision depends on it. */
export const setMayBeNamed = async (
  { store }: Deps,
  did: DidWeb,
  mayBeNamed: boolean,
): Promise<PrincipalRecord> => {
  const found = await store.principals.setMayBeNamed(did, mayBeNamed);
  const principal = found ? await store.principals.find(did) : null;
  if (principal === null) throw notFound(`No Principal ${did}.`);
  return principal;
};
