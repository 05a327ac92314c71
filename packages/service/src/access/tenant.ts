/** Which tenant a caller, an address or a record belongs to. */
import type { OrgId } from '@svc/protocol';
import type { Repositories } from '../ports/store.ts';
import type { Tenant } from '../ports/tenant.ts';
import type { Caller } from './caller.ts';

export const tenantOf = (caller: Caller): Tenant => {
  switch (caller.class) {
    case 'rp':
      return inOrg(caller.relyingParty.orgId, nameOfSubject(caller), caller.isNewcomer);
    case 'principal':
      return inOrg(caller.orgId, nameOfSubject(caller), caller.isNewcomer);
    case 'org':
      return inOrg(caller.subject, nameOfSubject(caller), caller.isNewcomer);
    case 'observer':
      return inOrg(null, `observer ${caller.keyId}`);
    case 'admin':
    case 'provision':
      return inOrg(null, caller.class);
  }
};

/**
 * Name of a subject for counting, with its class. One DID can be a Principal and a relying party, registered by
 * different customers; requests of one are not counted against the other.
 */
export const nameOfSubject = ({
  class: kind,
  subject,
}: {
  readonly class: Caller['class'];
  readonly subject: string;
}): string => `${kind} ${subject}`;

/** The exclusive key of transactions that lock a relying party. The exclusive key of a Principal is its DID alone. */
export const exclusiveKeyOfRelyingParty = (did: string): string =>
  nameOfSubject({ class: 'rp', subject: did });

/** The tenant of a caller without a credential: the address by which its limit is counted. */
export const tenantAt = (address: string): Tenant => ({ crowd: 'public', org: address, subject: address });

/**
 * The tenant of a record that belongs to an org or to none. It asks storage, so it is meant for work that asks other
 * hosts anyway.
 */
export const findTenantFor = async (
  { orgs }: Pick<Repositories, 'orgs'>,
  kind: 'principal' | 'rp',
  { orgId, did }: { readonly orgId: OrgId | null; readonly did: string },
): Promise<Tenant> =>
  inOrg(
    orgId,
    nameOfSubject({ class: kind, subject: did }),
    orgId !== null && (await orgs.isNewcomer(orgId)),
  );

const inOrg = (orgId: string | null, subject: string, isNewcomer = false): Tenant => ({
  crowd: isNewcomer ? 'newcomers' : 'tenants',
  org: orgId ?? subject,
  subject,
});
