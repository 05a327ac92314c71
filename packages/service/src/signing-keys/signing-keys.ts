/**
 * States of a Principal's signing keys (interface §Key states): active, then retired, then compromised, never back. A
 * kid names one key for ever, so that what was once denied under it stays denied.
 */
import { didOfKid } from '@svc/codec';
import { type DidWeb, sha256Of } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { assertStillOf, lockLiveKey } from '../access/live-key.ts';
import { type AuditAction, auditEvent, type SystemActor } from '../audit/audit-event.ts';
import { assertDated } from '../clock/assert-dated.ts';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, internal, notFound } from '../errors.ts';
import { logCompromisedKey, logRetiredKey } from '../fence/revocation-log.ts';
import { passBarrier } from '../grants/barrier.ts';
import type { KeyState, PrincipalKeyRecord, PrincipalRecord } from '../ports/principals.ts';
import { type Repositories, StoreError } from '../ports/store.ts';
import { buildManagedDidDocument } from '../principals/did-document.ts';
import { storeDocument } from '../principals/store-document.ts';

/** The key of a Principal, and the caller that changes it. */
export interface KeyRequest {
  readonly caller: Caller | SystemActor;
  readonly principal: DidWeb;
  readonly kid: string;
  readonly requestId: string;
}

export type RetiredState = Exclude<KeyState, 'active'>;

/**
 * Retires a key and returns its state afterwards; a compromised key stays `compromised`. Idempotent: the first instant
 * stays.
 *
 * No barrier is needed: a Grant that is allocated after this has returned is also presented after it, and its commit
 * reads the new version of the Principal.
 */
export const retireKey = (deps: ServiceDeps, request: KeyRequest): Promise<RetiredState> =>
  deps.store.transaction(
    async (tx) => {
      const { principal, key } = await lockKey(tx, request);
      if (key.state !== 'active') return key.state;
      logRetiredKey(deps, principal, key);
      await moveKey(deps, tx, request, principal, key, 'retired');
      // This instant decides which Grants of the key still pass, so it must be right.
      assertDated(deps, (await lockKey(tx, request)).key.sinceMs);
      return 'retired';
    },
    { exclusiveKey: request.principal },
  );

/**
 * Marks a key compromised, in two phases like a revocation: when it returns, no ALLOW under the key will be committed
 * any more. `SERVICE_UNAVAILABLE`: recorded, but not yet known to be visible. A repeated call does what no earlier call
 * is known to have done.
 */
export const compromiseKey = async (deps: ServiceDeps, request: KeyRequest): Promise<void> => {
  const { principal: did, kid } = request;
  if (await deps.store.principals.isCompromiseVisible(did, kid)) return;
  await deps.store.transaction(
    async (tx) => {
      const { principal, key } = await lockKey(tx, request);
      if (key.state === 'compromised') return;
      logCompromisedKey(deps, principal, key);
      await moveKey(deps, tx, request, principal, key, 'compromised');
      if (principal.kind === 'managed') await publishWithout(deps, tx, principal, key.kid);
    },
    { lane: 'urgent', exclusiveKey: did },
  );
  await passBarrier(deps, did);
  await noteVisible(deps, did, kid);
};

/**
 * Notes that the compromise is visible. This only spares repeated calls the barrier, so a failure changes nothing for
 * this call.
 */
const noteVisible = async ({ store, log }: ServiceDeps, principal: DidWeb, kid: string): Promise<void> => {
  try {
    await store.transaction((tx) => tx.principals.noteCompromiseVisible(principal, kid), { lane: 'urgent' });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.warn('compromise.not_noted', { kid, error: error.message });
  }
};

/**
 * Locks the Principal, so that changes to its keys run one after another. Checks that the caller may still make the
 * change, because a compromised kid stays so for the next holder of the Principal too.
 */
const lockKey = async (
  tx: Repositories,
  { caller, principal: did, kid }: KeyRequest,
): Promise<{ readonly principal: PrincipalRecord; readonly key: PrincipalKeyRecord }> => {
  const principal = await tx.principals.findForUpdate(did);
  if (principal !== null) assertStillOf(caller, principal, did);
  await lockLiveKey(tx, caller);
  const key = principal === null ? undefined : findKey(principal, kid);
  if (principal !== null && key !== undefined) return { principal, key };
  const named = await tx.principals.find(didOfKid(kid));
  if (named !== null && named.did !== did && findKey(named, kid) !== undefined)
    throw forbidden(`${kid} is not a key of this Principal.`);
  throw notFound(`No key ${kid}.`);
};

const findKey = ({ keys }: PrincipalRecord, kid: string): PrincipalKeyRecord | undefined =>
  keys.find((key) => key.kid === kid);

const AUDITED_AS: Readonly<Record<RetiredState, AuditAction>> = {
  retired: 'key.retire',
  compromised: 'key.compromise',
};

/**
 * Changes the state of the key. The Principal gets a new version, which makes every node read it again before it allows
 * anything more.
 */
const moveKey = async (
  deps: ServiceDeps,
  tx: Repositories,
  { caller, requestId }: KeyRequest,
  { did: principal, orgId }: PrincipalRecord,
  { kid, state: from }: PrincipalKeyRecord,
  to: RetiredState,
): Promise<void> => {
  if (!(await tx.principals.setKeyState(principal, kid, to)))
    throw internal(`${kid} was ${from} under the lock and did not become ${to}`);
  const details = { principal, from };
  await tx.audit.insert(
    auditEvent(deps, caller, { action: AUDITED_AS[to], target: kid, requestId, orgId, details }),
  );
};

/**
 * Puts a managed document without the compromised key in force. The former document stays as evidence of past Receipts.
 */
const publishWithout = async (
  { crypto }: ServiceDeps,
  tx: Repositories,
  { did, keys }: PrincipalRecord,
  kid: string,
): Promise<void> => {
  const document = buildManagedDidDocument(
    did,
    keys.filter((key) => key.kid !== kid),
  );
  const hash = sha256Of(crypto, document);
  await storeDocument(tx, hash, document);
  await tx.principals.putDocument(did, hash, []);
};
