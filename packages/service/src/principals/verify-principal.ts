/**
 * Checks a hosted Principal's domain (interface §Verification, protocol §13), on demand and by the worker. The DID
 * document is fetched again in the same check.
 *
 * | proof found              | verified                                                           |
 * | positively none          | unverified                                                         |
 * | could not be asked       | as before, for at most 72 h since a proof was last found            |
 *
 * Losing the verification works like a revocation (protocol §9). The state is committed first, so that every later
 * commit evaluates again. Then the barrier waits for the commits under way. Only then is the answer 200.
 */
import { sha256Of } from '@svc/protocol';
import { mayVerifyPrincipal } from '../access/acting.ts';
import type { Caller } from '../access/caller.ts';
import { findTenantFor } from '../access/tenant.ts';
import { auditEvent, type SystemActor } from '../audit/audit-event.ts';
import { assertDated } from '../clock/assert-dated.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal, notFound, serviceUnavailable } from '../errors.ts';
import { passBarrier } from '../grants/barrier.ts';
import type { DidResolution, DomainProof } from '../ports/hosted-principals.ts';
import type { PrincipalRecord, VerificationState } from '../ports/principals.ts';
import type { Repositories } from '../ports/store.ts';
import { putResolved } from './hosted-document.ts';
import { stateAfterCheck } from './verification-state.ts';

const MAX_CHECKS = 3;

/**
 * `POST /principals/{did}/verify`. A managed Principal is verified by construction: no host is asked, and the call is
 * audited.
 */
export const verifyPrincipal = async (
  deps: ServiceDeps,
  caller: Caller,
  did: string,
  requestId: string,
): Promise<PrincipalRecord> => {
  const principal = await deps.store.principals.find(did);
  if (principal === null || !mayVerifyPrincipal(caller, principal))
    throw notFound(`No Principal ${did} for this key.`);
  if (principal.kind === 'managed') return noteCheck(deps, caller, principal, requestId);
  for (let checks = 1; checks <= MAX_CHECKS; checks++) {
    const checked = await checkDomain(deps, principal, { actor: caller, requestId, auditAlways: true });
    if (checked === null) continue;
    if (checked.needsBarrier) await passBarrier(deps, checked.principal.did);
    return checked.principal;
  }
  throw serviceUnavailable(`verification of ${did}: overtaken ${MAX_CHECKS} times`);
};

const noteCheck = async (
  deps: ServiceDeps,
  caller: Caller,
  principal: PrincipalRecord,
  requestId: string,
): Promise<PrincipalRecord> => {
  const { did, orgId, verificationState: state } = principal;
  const details = { from: state, to: state, outcome: 'svc-hosted' };
  await deps.store.audit.insert(
    auditEvent(deps, caller, { action: 'principal.verify', target: did, requestId, orgId, details }),
  );
  return principal;
};

export interface Checking {
  readonly actor: Caller | SystemActor;
  readonly requestId: string | null;
  /** False: only a state that changes is audited. */
  readonly auditAlways: boolean;
}

export interface Checked {
  readonly principal: PrincipalRecord;
  readonly from: VerificationState;
  readonly outcome: DomainProof;
  /**
   * True when decisions that were evaluated before this check must not be committed any more. True also for a loss that
   * was recorded earlier, since its barrier may not have been passed.
   */
  readonly needsBarrier: boolean;
}

/**
 * Asks the domain and its host, and records what they answer. Null, with nothing recorded, when another check has
 * reached another result meanwhile: an older answer must not undo it.
 */
export const checkDomain = async (
  deps: ServiceDeps,
  principal: PrincipalRecord,
  checking: Checking,
): Promise<Checked | null> => {
  const { did, domain, verificationToken } = principal;
  const tenant = await findTenantFor(deps.store, 'principal', principal);
  const askedAtMs = deps.clock.nowMs();
  const [outcome, resolution] = await Promise.all([
    deps.domainProver.check({ did, domain, token: verificationToken }, tenant),
    deps.didResolver.resolve(did, tenant),
  ]);
  return deps.store.as(tenant).transaction(
    async (tx) => {
      const locked = await tx.principals.findForUpdate(did);
      // Another registration has replaced this one: the result is not about its token.
      if (locked === null || locked.verificationToken !== verificationToken)
        throw notFound(`No Principal ${did}.`);
      return recordCheck(deps, tx, locked, { outcome, resolution, askedAtMs }, checking);
    },
    { lane: 'urgent', exclusiveKey: did },
  );
};

interface Answers {
  readonly outcome: DomainProof;
  readonly resolution: DidResolution;
  readonly askedAtMs: number;
}

const recordCheck = async (
  deps: ServiceDeps,
  tx: Repositories,
  locked: PrincipalRecord,
  { outcome, resolution, askedAtMs }: Answers,
  { actor, requestId, auditAlways }: Checking,
): Promise<Checked | null> => {
  const { did, recordedState: from } = locked;
  const to = stateAfterCheck(locked, outcome, deps.clock.nowMs());
  if (to !== from && (locked.lastCheckedMs ?? 0) >= askedAtMs) return null;
  await tx.principals.recordVerification(did, { state: to, proven: outcome === 'proven' });
  if (outcome === 'proven' && locked.claimExpiresAtMs !== null)
    await tx.claims.forgetContesting({ did, kind: 'principal' });
  const isNewDocument =
    resolution.kind === 'resolved' && locked.document?.hash !== sha256Of(deps.crypto, resolution.text);
  if (resolution.kind === 'resolved') await putResolved(deps, tx, locked, resolution, askedAtMs);
  if (auditAlways || to !== from) {
    const details = { from, to, outcome, did_document: resolution.kind };
    await tx.audit.insert(
      auditEvent(deps, actor, {
        action: 'principal.verify',
        target: did,
        requestId,
        orgId: locked.orgId,
        details,
      }),
    );
  }
  const principal = await tx.principals.find(did);
  if (principal === null) throw internal(`no Principal ${did}`);
  // The Principal stays verified for 72 h from this instant, so it must be right.
  assertDated(deps, principal.lastCheckedMs ?? 0);
  return { principal, from, outcome, needsBarrier: to === 'unverified' || isNewDocument };
};
