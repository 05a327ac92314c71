/**
 * Reserves a Grant (interface §POST /grants): an id, and an entry in a status list that the service signs. The
 * Principal signs the authority itself, which the service never sees here.
 */
import { type DidKey, type DidWeb, encodeUlid, type GrantId } from '@svc/protocol';
import { buildStatusEntry } from '@svc/status-list';
import type { PrincipalCaller } from '../access/caller.ts';
import { lockLiveKey } from '../access/live-key.ts';
import { auditEvent, type SystemActor } from '../audit/audit-event.ts';
import { MAX_MADE_UNDER_CLAIM } from '../claims/claim.ts';
import { assertDated } from '../clock/assert-dated.ts';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, internal } from '../errors.ts';
import type { GrantRecord } from '../ports/grants.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { Repositories } from '../ports/store.ts';
import { permuteIndex } from './index-permutation.ts';
import { insertStatusList } from './status-list.ts';

export interface GrantAllocation {
  readonly grant: GrantRecord;
  readonly credentialStatus: ReturnType<typeof buildStatusEntry>;
}

/** An actor's order to allocate a Grant of a Principal to an Agent. */
export interface GrantOrder {
  readonly actor: PrincipalCaller | SystemActor;
  readonly principal: DidWeb;
  readonly agent: DidKey;
  readonly requestId: string;
}

/**
 * Allocates a Grant for the calling Principal. The index of the entry is never used again, even if the Grant is never
 * signed.
 */
export const allocateGrant = async (
  deps: ServiceDeps,
  caller: PrincipalCaller,
  agent: DidKey,
  requestId: string,
): Promise<GrantAllocation> =>
  deps.store.transaction(
    (tx) => allocateGrantIn(deps, tx, { actor: caller, principal: caller.subject, agent, requestId }),
    { exclusiveKey: caller.subject },
  );

export const allocateGrantIn = async (
  deps: ServiceDeps,
  tx: Repositories,
  { actor, principal: did, agent, requestId }: GrantOrder,
): Promise<GrantAllocation> => {
  // The lock orders this allocation and a concurrent kill switch of the Agent, so that no Grant escapes the kill
  // switch.
  const principal = await tx.principals.findForUpdate(did);
  // A release of the Principal revokes its keys too. The key is checked first, so that the caller gets `UNAUTHORIZED`
  // and not an internal error for the missing Principal.
  await lockLiveKey(tx, actor);
  if (principal === null) throw internal(`no Principal ${did}`);
  const { url, index } = await takeEntry(deps, tx, principal);
  const id = `urn:svc:grant:${encodeUlid(deps.clock.nowMs(), deps.random.bytes(10))}` as GrantId;
  const grant = await tx.grants.insert({
    id,
    principal: did,
    agent,
    statusListUrl: url,
    statusIndex: index,
  });
  // A key retired after this instant still passes for this Grant, so the instant must be right.
  assertDated(deps, grant.allocatedAtMs);
  const { orgId } = principal;
  await tx.audit.insert(
    auditEvent(deps, actor, { action: 'grant.allocate', target: id, requestId, orgId, details: { agent } }),
  );
  return { grant, credentialStatus: buildStatusEntry({ credentialUrl: url, index }) };
};

/**
 * Limit of entries used in a list of the sandbox. Anybody may revoke there, and each list that a Receipt names is kept.
 * With 1,000 entries a list takes at most 2 KB, not 20 KB.
 */
const MAX_SANDBOX_GRANTS_IN_LIST = 1_000;

const takeEntry = async (
  deps: ServiceDeps,
  tx: Repositories,
  principal: PrincipalRecord,
): Promise<{ readonly url: string; readonly index: number }> => {
  const atMost = principal.did === deps.identity.sandboxPrincipal ? MAX_SANDBOX_GRANTS_IN_LIST : undefined;
  const taken =
    (await tx.statusLists.takeOrdinal(principal.did, atMost)) ?? (await takeFromNewList(deps, tx, principal));
  const { url, ordinal, sizeBits, permutationKey } = taken;
  if (principal.claimExpiresAtMs !== null && ordinal >= MAX_MADE_UNDER_CLAIM)
    throw forbidden(`${principal.did} has ${MAX_MADE_UNDER_CLAIM} Grants; more once its domain is proven.`);
  return { url, index: permuteIndex(permutationKey, sizeBits, ordinal) };
};

const takeFromNewList = async (deps: ServiceDeps, tx: Repositories, principal: PrincipalRecord) => {
  await insertStatusList(deps, tx, principal);
  const taken = await tx.statusLists.takeOrdinal(principal.did);
  if (taken === null) throw internal('a new status list is full');
  return taken;
};
