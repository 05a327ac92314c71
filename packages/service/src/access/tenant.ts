/** Which tenant a caller, an address or a record belongs to. */
import type { Tenant } from '../ports/tenant.ts';
import type { Caller } from './caller.ts';

export const tenantOf = (caller: Caller): Tenant => {
  switch (caller.class) {
    case 'rp':
      return inOrg(caller.relyingParty.orgId, caller.subject, caller.isNewcomer);
    case 'principal':
      return inOrg(caller.orgId, caller.subject, caller.isNewcomer);
    case 'org':
      return inOrg(caller.subject, caller.subject, caller.isNewcomer);
    case 'observer':
      return inOrg(null, `observer ${caller.keyId}`);
    case 'admin':
    case 'provision':
      return inOrg(null, caller.class);
  }
};

/** A caller that shows no credential, by the address that its limit goes by. */
export const tenantAt = (address: string): Tenant => ({ crowd: 'public', org: address, subject: address });

/** Of a record that belongs to an org, or to none. */
export const tenantFor = ({ orgId, did }: { readonly orgId: string | null; readonly did: string }): Tenant =>
  inOrg(orgId, did);

const inOrg = (orgId: string | null, subject: string, isNewcomer = false): Tenant => ({
  crowd: isNewcomer ? 'newcomers' : 'tenants',
  org: orgId ?? subject,
  subject,
});
