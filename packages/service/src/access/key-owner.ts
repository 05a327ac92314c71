/**
 * Whose keys a caller may manage (interface §API keys, identity, audit, usage). One DID can be a Principal and a
 * relying party at once, registered by different customers. So an owner is always a subject together with the roles of
 * the keys meant: a Principal key never reaches the keys of the relying party, nor the reverse.
 */
import type { ApiKeyId, DidWeb, OrgId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, invalidRequest, notFound } from '../errors.ts';
import { getOrg } from '../orgs/orgs.ts';
import type { ApiKeyRole } from '../ports/api-keys.ts';
import type { Caller } from './caller.ts';
import { isOfOrg } from './reading.ts';

export interface KeyOwner {
  readonly subject: DidWeb | OrgId;
  /** Former subjects under which keys of this owner were issued. No other owner has keys of these roles under them. */
  readonly formerSubjects?: readonly DidWeb[];
  readonly roles: readonly ApiKeyRole[];
}

type Deps = Pick<ServiceDeps, 'store'>;

/** The owner is the caller itself, or the Principal or relying party that an org key or the operator names. */
export const ownerFor = async (deps: Deps, caller: Caller, asked: DidWeb | undefined): Promise<KeyOwner> => {
  if (caller.class === 'rp' || caller.class === 'principal') {
    if (asked !== undefined && asked !== caller.subject) throw noSubject(asked);
    return { subject: caller.subject, roles: [caller.class] };
  }
  if (asked === undefined)
    throw invalidRequest('subject: required here; name the Principal or relying party whose keys are meant');
  const roles = await rolesOf(deps, caller, asked);
  if (roles.length === 0) throw noSubject(asked);
  return { subject: asked, roles };
};

/**
 * Owner of the key that is to be revoked. Only the operator names a `subject` here (interface §POST
 * /api-keys/{key_id}/revoke). For an org:admin key, and for an operator that names none, the key's own row names the
 * owner.
 */
export const ownerForRevocation = async (
  deps: Deps,
  caller: Caller,
  keyId: ApiKeyId,
  asked: DidWeb | undefined,
): Promise<KeyOwner> => {
  if (caller.class === 'rp' || caller.class === 'principal') return ownerFor(deps, caller, asked);
  if (asked !== undefined) {
    if (caller.class === 'admin') return ownerFor(deps, caller, asked);
    throw forbidden('subject: only the operator names one here; the id of the key says whose it is.');
  }
  const key = await deps.store.apiKeys.findById(keyId);
  if (key?.role !== 'principal' && key?.role !== 'rp') throw notFound(`No key ${keyId}.`);
  const subject = key.subject as DidWeb;
  if (!(await rolesOf(deps, caller, subject)).includes(key.role)) throw notFound(`No key ${keyId}.`);
  return { subject, roles: [key.role] };
};

/** The org as the owner of its own keys. */
export const orgOwner = async (deps: Deps, caller: Caller, orgId: OrgId): Promise<KeyOwner> => {
  await getOrg(deps, caller, orgId);
  return { subject: orgId, roles: ['org:read', 'org:admin'] };
};

/** The service as the owner of observer keys, including those that it issued under a former DID. */
export const observerOwner = ({ identity }: Pick<ServiceDeps, 'identity'>): KeyOwner => ({
  subject: identity.did,
  formerSubjects: identity.formers.map(({ did }) => did),
  roles: ['observer'],
});

/** The roles in which the caller may manage `did`: Principal, relying party, both or none. */
const rolesOf = async ({ store }: Deps, caller: Caller, did: DidWeb): Promise<readonly ApiKeyRole[]> => {
  const mayManage = (record: { readonly orgId: OrgId | null } | null): boolean =>
    record !== null && (caller.class === 'admin' || isOfOrg(caller, record.orgId));
  const roles: ApiKeyRole[] = [];
  if (mayManage(await store.principals.find(did))) roles.push('principal');
  if (mayManage(await store.relyingParties.find(did))) roles.push('rp');
  return roles;
};

const noSubject = (did: DidWeb) => notFound(`No Principal or relying party ${did} for this key.`);
