/**
 * Signs a tenant up through the console (interface §POST /orgs/self-serve): org, relying party, keys and starter in one
 * transaction. Either all of them exist or none, and no key is known to anybody before they exist.
 */
import { encodeUlid, type OrgId, PROOF_WINDOW_MAX_SECONDS } from '@svc/protocol';
import type { ProvisionCaller } from '../access/caller.ts';
import { issueApiKey } from '../api-keys/api-key.ts';
import { auditEvent } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, rateLimited, ServiceError } from '../errors.ts';
import type { OrgRecord } from '../ports/orgs.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';
import { type Repositories, StoreError } from '../ports/store.ts';
import { managedRelyingPartyDid } from '../principals/domain.ts';
import { requireOpenSlug } from '../principals/reserved-slugs.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { issueStarterIn, type Starter } from './starter.ts';
import { secondsUntilTomorrow } from './until-tomorrow.ts';

export interface SignUpRequest {
  readonly slug: string;
  readonly name: string;
  readonly admin_email: string;
}

export interface SelfServeBundle {
  readonly org: OrgRecord;
  readonly orgAdminKey: string;
  readonly relyingParty: RelyingPartyRecord;
  readonly rpVerifyKey: string;
  readonly starter: Starter;
}

export interface SignUpOptions {
  readonly sandbox: Sandbox;
  /** Maximum number of new orgs in one UTC day, on all nodes together. */
  readonly perDay: number;
}

const VERIFY_RATE_LIMIT_PER_MINUTE = 600;

/** `CONFLICT`: the slug is taken or reserved. `RATE_LIMITED`: no more today. */
export const signUp = async (
  deps: ServiceDeps,
  options: SignUpOptions,
  caller: ProvisionCaller,
  request: SignUpRequest,
  requestId: string,
): Promise<SelfServeBundle> => {
  requireOpenSlug(caller, request.slug);
  let made: SelfServeBundle | null = null;
  try {
    return await deps.store.transaction(async (tx) => {
      made = await insertTenant(deps, tx, options, caller, request, requestId);
      return made;
    });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (error.kind === 'conflict') throw conflict(`slug: ${request.slug} is taken.`);
    if (error.kind === 'ambiguous' && made !== null) return settle(deps, made, error);
    throw error;
  }
};

const insertTenant = async (
  deps: ServiceDeps,
  tx: Repositories,
  { sandbox, perDay }: SignUpOptions,
  caller: ProvisionCaller,
  { slug, name, admin_email: adminEmail }: SignUpRequest,
  requestId: string,
): Promise<SelfServeBundle> => {
  const orgId = `org_${encodeUlid(deps.clock.nowMs(), deps.random.bytes(10))}` as OrgId;
  const org = await tx.orgs.insert({ orgId, slug, name });
  const relyingParty = await tx.relyingParties.insert({
    did: managedRelyingPartyDid(deps.identity, slug),
    kind: 'managed',
    slug,
    name,
    proofWindowSeconds: PROOF_WINDOW_MAX_SECONDS,
    verifyRateLimitPerMinute: VERIFY_RATE_LIMIT_PER_MINUTE,
    profile: 'svc-base-v1',
    orgId,
  });
  const { did } = relyingParty;
  const orgAdmin = { role: 'org:admin', subject: orgId, label: null } as const;
  const orgAdminKey = await issueApiKey(tx, deps.random, orgAdmin);
  const rpVerifyKey = await issueApiKey(tx, deps.random, { role: 'rp', subject: did, label: null });
  const audit = (event: Parameters<typeof auditEvent>[2]) =>
    tx.audit.insert(auditEvent(deps, caller, { ...event, orgId }));
  await audit({
    action: 'relying_party.create',
    target: did,
    requestId,
    details: { kind: 'managed', org_id: orgId },
  });
  await audit({
    action: 'api_key.create',
    target: orgAdminKey.record.keyId,
    requestId,
    details: { subject: orgId, role: orgAdmin.role },
  });
  await tx.selfServe.insert({ orgId, relyingParty: did, adminEmail });
  // The rows that other transactions wait for come last: the sandbox Principal's row, then the day's count.
  const starter = await issueStarterIn(deps, tx, sandbox, relyingParty, requestId);
  if (!(await tx.selfServe.takeSignUp(perDay)))
    throw rateLimited('No more sign-ups are taken today (UTC).', secondsUntilTomorrow(deps.clock.nowMs()));
  return {
    org,
    orgAdminKey: orgAdminKey.value,
    relyingParty,
    rpVerifyKey: rpVerifyKey.value,
    starter,
  };
};

/**
 * The answer to COMMIT was lost. Only this call knows the keys, so it finds out whether the tenant exists. It reads in
 * a transaction, which commits only when what it read is durable.
 */
const settle = async (
  { store }: ServiceDeps,
  made: SelfServeBundle,
  lost: StoreError,
): Promise<SelfServeBundle> => {
  const stored = await store.transaction((tx) => tx.orgs.find(made.org.orgId)).catch(() => null);
  if (stored !== null) return made;
  throw new ServiceError(
    'SERVICE_UNAVAILABLE',
    'It is not known whether the tenant was made. Repeat the call: if it was, the slug is taken.',
    { cause: lost, detail: lost.message },
  );
};
