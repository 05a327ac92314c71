/**
 * Which Principal or relying party a caller may act for, and which records it may change (interface §Authentication).
 */
import type { DidWeb, OrgId, ReceiptId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, invalidRequest, notFound } from '../errors.ts';
import type { ReportedReceipt } from '../ports/decisions.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';
import type { Caller } from './caller.ts';
import { isOfOrg } from './reading.ts';

type Deps = Pick<ServiceDeps, 'store'>;

/** The Principal that the caller acts for: itself, or, with an org:admin key, the member named by `asked`. */
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

/**
 * The relying party that the caller reports outcomes for: itself, or, with an org:admin key, the member that it names.
 */
const actingRelyingParty = (caller: Caller, asked: DidWeb | undefined): DidWeb => {
  if (caller.class === 'rp') {
    if (asked !== undefined && asked !== caller.subject)
      throw forbidden('subject: an RP key reports only for itself.');
    return caller.subject;
  }
  if (caller.class !== 'org' || caller.role !== 'admin')
    throw forbidden('An RP key or an org:admin key is needed.');
  if (asked === undefined)
    throw invalidRequest('subject: required with an org key; name the member relying party');
  return asked;
};

/**
 * The Receipt that the caller reports an outcome for. Throws `NOT_FOUND`, as for an absent decision, when the caller
 * does not act for the relying party of the Receipt.
 */
export const requireReporter = async (
  { store }: Deps,
  caller: Caller,
  receiptId: ReceiptId,
  asked: DidWeb | undefined,
): Promise<ReportedReceipt> => {
  const reporter = actingRelyingParty(caller, asked);
  const absent = () => notFound(`No decision ${receiptId}.`);
  const receipt = await store.receipts.findReported(receiptId);
  if (receipt === null || receipt.relyingParty !== reporter) throw absent();
  if (caller.class !== 'org') return receipt;
  const relyingParty = await store.relyingParties.find(reporter);
  if (relyingParty?.orgId !== caller.subject) throw absent();
  return receipt;
};

/**
 * The org of a new Principal or relying party. An org:admin key registers only in its own org; the operator names any
 * org or none.
 */
export const orgForRegistration = async (
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

/** True for the Principal itself, an org:admin key of its org, and the operator. */
export const mayVerifyPrincipal = (
  caller: Caller,
  { did, orgId }: Pick<PrincipalRecord, 'did' | 'orgId'>,
): boolean =>
  caller.class === 'admin' ||
  (caller.class === 'principal' && caller.subject === did) ||
  (caller.class === 'org' && caller.role === 'admin' && isOfOrg(caller, orgId));

/** True for the relying party itself, an org:admin key of its org, and the operator. */
export const mayAdministerRelyingParty = (
  caller: Caller,
  { did, orgId }: Pick<RelyingPartyRecord, 'did' | 'orgId'>,
): boolean =>
  caller.class === 'admin' ||
  (caller.class === 'rp' && caller.subject === did) ||
  (caller.class === 'org' && caller.role === 'admin' && isOfOrg(caller, orgId));

export const requireSettingsWritable = (caller: Caller): void => {
  if (caller.class === 'org' && caller.role !== 'admin')
    throw forbidden('An org:read key may not change settings.');
  if (caller.class !== 'admin' && caller.class !== 'org')
    throw forbidden('The admin token or an org:admin key is needed.');
};
