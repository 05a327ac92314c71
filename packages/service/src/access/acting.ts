/** Into which org a new Principal or relying party goes: an org:admin key into its own, the admin into any. */
import type { OrgId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, invalidRequest } from '../errors.ts';
import type { Caller } from './caller.ts';

export const orgForOnboarding = async (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Caller,
  asked: OrgId | null | undefined,
): Promise<OrgId | null> => {
  if (caller.class === 'org') {
    if (caller.role !== 'admin') throw forbidden('An org:read key may not onboard.');
    if (asked !== undefined && asked !== caller.subject)
      throw forbidden('org_id: an org:admin key onboards into its own org; leave org_id out.');
    return caller.subject;
  }
  if (caller.class !== 'admin') throw forbidden('The admin token or an org:admin key is needed.');
  if (asked === undefined || asked === null) return null;
  if (!(await store.orgs.exists(asked))) throw invalidRequest(`org_id: there is no org ${asked}`);
  return asked;
};
