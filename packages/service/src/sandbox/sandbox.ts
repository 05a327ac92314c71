/**
 * The sandbox: a Principal that the service itself plays, for Grants with which people can see a real ALLOW (interface
 * §Sandbox, §Self-serve). Only what it signs is play; its records, Receipts and revocations are those of any Principal.
 *
 * All nodes have the same key file, so each of them can issue for the one Principal. The file decides which keys are
 * active: keys that are new to the database are published, and keys that have left the file are retired.
 */
import { createHash } from 'node:crypto';
import { type DidWeb, encodeBase64url, encodeUtf8, PROOF_WINDOW_MAX_SECONDS, sha256Of } from '@svc/protocol';
import { issueApiKey } from '../api-keys/api-key.ts';
import { auditEvent, SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { insertStatusList } from '../grants/status-list.ts';
import type { Signer } from '../ports/platform.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import { type Repositories, StoreError } from '../ports/store.ts';
import { buildManagedDidDocument } from '../principals/did-document.ts';
import { managedRelyingPartyDid, SANDBOX_SLUG } from '../principals/domain.ts';
import { storeDocument } from '../principals/store-document.ts';
import { type KeySet, KeySetError, type PublishedKey } from '../service-keys/key-set.ts';
import { type AgentKey, agentFromSeed } from './agent-key.ts';

export interface Sandbox {
  readonly principal: DidWeb;
  readonly signer: Signer;
  /** The Agent of `/demo`. Its key never leaves the service. */
  readonly agent: AgentKey;
  /** The relying party of `/demo`. Nobody has an API key of it. */
  readonly relyingParty: DidWeb;
}

/** The profile that supports `maxUses`, which approvals need. */
const SANDBOX_PROFILE = 'svc-base-v2';
const UNLIMITED_PER_MINUTE = 1_000_000;

/** Creates what is missing of the sandbox. Throws `KeySetError` when its key cannot be used. */
export const openSandbox = async (deps: ServiceDeps, keys: KeySet): Promise<Sandbox> => {
  await ensureOnce(deps, keys).catch((error: unknown) => {
    // Another node created the same rows first.
    if (error instanceof StoreError && error.kind === 'conflict') return ensureOnce(deps, keys);
    throw error;
  });
  return {
    principal: deps.identity.sandboxPrincipal,
    signer: keys.signer,
    agent: await agentOf(keys.signer),
    relyingParty: managedRelyingPartyDid(deps.identity, SANDBOX_SLUG),
  };
};

/**
 * The Agent. Its key is derived from a signature that only the file's key can make, so that all nodes have the same
 * Agent without another file.
 */
const agentOf = async (signer: Signer): Promise<AgentKey> => {
  const secret = await signer.sign(encodeUtf8('the key of the Agent in the sandbox'));
  return agentFromSeed(createHash('sha256').update(secret).digest());
};

const ensureOnce = (deps: ServiceDeps, keys: KeySet): Promise<void> =>
  deps.store.transaction(async (tx) => {
    const principal = await tx.principals.findForUpdate(deps.identity.sandboxPrincipal);
    if (principal === null) await insertPrincipal(deps, tx, keys.published);
    else await renewKeys(deps, tx, principal, keys);
    await ensureRelyingParty(deps, tx);
  });

const insertPrincipal = async (
  deps: ServiceDeps,
  tx: Repositories,
  keys: readonly PublishedKey[],
): Promise<void> => {
  const did = deps.identity.sandboxPrincipal;
  const active = keys.map((key) => ({ ...key, state: 'active' as const }));
  const document = buildManagedDidDocument(did, active);
  const documentHash = sha256Of(deps.crypto, document);
  await storeDocument(tx, documentHash, document);
  const principal = await tx.principals.insert({
    did,
    kind: 'managed',
    domain: deps.identity.domain,
    slug: SANDBOX_SLUG,
    verificationState: 'verified',
    verificationToken: encodeBase64url(deps.random.bytes(24)),
    orgId: null,
    mayBeNamed: false,
    keys,
    documentHash,
  });
  await insertStatusList(deps, tx, principal);
  await tx.audit.insert(auditEvent(deps, SYSTEM, { action: 'sandbox.create', target: did, requestId: null }));
};

const renewKeys = async (
  deps: ServiceDeps,
  tx: Repositories,
  principal: PrincipalRecord,
  { signer, published }: KeySet,
): Promise<void> => {
  const { did } = principal;
  const known = new Map(principal.keys.map((key) => [key.kid, key]));
  for (const { kid, publicKeyMultibase } of published)
    if ((known.get(kid)?.publicKeyMultibase ?? publicKeyMultibase) !== publicKeyMultibase)
      throw new KeySetError(`${kid} was another key before, and a kid is never used again: take another one`);
  if ((known.get(signer.kid)?.state ?? 'active') !== 'active')
    throw new KeySetError(`${signer.kid} is retired: put a new key first (all nodes have the same file)`);

  const listed = new Set(published.map(({ kid }) => kid));
  for (const { kid, state } of principal.keys)
    if (state === 'active' && !listed.has(kid)) await retire(deps, tx, did, kid);

  const added = published.filter(({ kid }) => !known.has(kid));
  if (added.length === 0) return;
  const document = buildManagedDidDocument(did, [
    ...principal.keys,
    ...added.map((key) => ({ ...key, state: 'active' as const })),
  ]);
  const hash = sha256Of(deps.crypto, document);
  await storeDocument(tx, hash, document);
  await tx.principals.putDocument(did, hash, added);
};

const retire = async (deps: ServiceDeps, tx: Repositories, principal: DidWeb, kid: string): Promise<void> => {
  await tx.principals.setKeyState(principal, kid, 'retired');
  const details = { principal, from: 'active' };
  await tx.audit.insert(
    auditEvent(deps, SYSTEM, { action: 'key.retire', target: kid, requestId: null, details }),
  );
};

/**
 * Creates the relying party and one API key of it. Decisions name the API key that was used, so there is one, whose
 * value nobody has.
 */
const ensureRelyingParty = async (deps: ServiceDeps, tx: Repositories): Promise<void> => {
  const did = managedRelyingPartyDid(deps.identity, SANDBOX_SLUG);
  const known = await tx.relyingParties.find(did);
  // Earlier versions, which had no approvals, created it with this profile.
  if (known?.profile === 'svc-base-v1') await tx.relyingParties.update(did, { profile: SANDBOX_PROFILE });
  if (known === null)
    await tx.relyingParties.insert({
      did,
      kind: 'managed',
      slug: SANDBOX_SLUG,
      name: 'Sandbox',
      // A slow reader can still use what was minted.
      proofWindowSeconds: PROOF_WINDOW_MAX_SECONDS,
      verifyRateLimitPerMinute: UNLIMITED_PER_MINUTE,
      profile: SANDBOX_PROFILE,
      orgId: null,
    });
  if ((await tx.apiKeys.findNewestLive(did, 'rp')) === null)
    await issueApiKey(tx, deps.random, { role: 'rp', subject: did, label: 'sandbox' });
};
