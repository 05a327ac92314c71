/**
 * What a caller may read. A resource of another subject is answered exactly like an absent one (protocol §13). The
 * rules for decisions are in `decision-scope.ts`.
 */
import type { DidWeb, OrgId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, notFound } from '../errors.ts';
import type { AuditScope } from '../ports/audit.ts';
import type { Caller } from './caller.ts';

type Deps = Pick<ServiceDeps, 'store'>;

interface OrgMember {
  readonly did: DidWeb;
  readonly orgId: OrgId | null;
}

/** True for every key of this org. */
export const isOfOrg = (caller: Caller, orgId: OrgId | null): boolean =>
  caller.class === 'org' && caller.subject === orgId;

export const mayReadOrg = (caller: Caller, orgId: OrgId): boolean =>
  caller.class === 'admin' || isOfOrg(caller, orgId);

/** True when the caller may read the relying party's settings and decisions. */
export const mayReadRelyingParty = (caller: Caller, { did, orgId }: OrgMember): boolean =>
  caller.class === 'admin' || (caller.class === 'rp' && caller.subject === did) || isOfOrg(caller, orgId);

/**
 * True when the caller may read the Principal's record with the verification token. Every live key may read the
 * directory entry.
 */
export const mayReadPrincipal = (caller: Caller, { did, orgId }: OrgMember): boolean =>
  caller.class === 'admin' ||
  (caller.class === 'principal' && caller.subject === did) ||
  isOfOrg(caller, orgId);

/**
 * Throws FORBIDDEN or NOT_FOUND unless the caller may see who is in the org: only the org itself and the operator may.
 */
export const requireMembersReadable = (caller: Caller, orgId: OrgId): void => {
  if (mayReadOrg(caller, orgId)) return;
  if (caller.class !== 'org') throw forbidden('org_id: only for keys of that org and the operator.');
  throw notFound(`No org ${orgId} for this key.`);
};

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

/**
 * The audit events that the caller may read; null means all. Each actor has a kind, because one DID can be a Principal
 * and a relying party with different owners.
 */
export const auditScopeOf = async ({ store }: Deps, caller: Caller): Promise<AuditScope | null> => {
  if (caller.class === 'admin') return null;
  if (caller.class === 'principal' || caller.class === 'rp')
    return { actors: [{ kind: caller.class, did: caller.subject }], orgId: null };
  if (caller.class !== 'org') throw forbidden('This key may not read the audit log.');
  const principals = await store.principals.listDidsOfOrg(caller.subject);
  const relyingParties = await store.relyingParties.listOfOrg(caller.subject);
  const actors = [
    { kind: 'org', did: caller.subject } as const,
    ...principals.map((did) => ({ kind: 'principal', did }) as const),
    ...relyingParties.map(({ did }) => ({ kind: 'rp', did }) as const),
  ];
  return { actors, orgId: caller.subject };
};
