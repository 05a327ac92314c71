/**
 * Registers a Principal (interface §POST /principals). Managed: the service publishes its DID document, and it is
 * verified by construction. Hosted: the customer publishes the document, and the Principal is unverified until its
 * domain is proven.
 */
import {
  type DidWeb,
  decodeMultikey,
  encodeBase64url,
  type OrgId,
  parseDidWeb,
  sha256Of,
} from '@svc/protocol';
import { orgForRegistration } from '../access/acting.ts';
import type { Caller } from '../access/caller.ts';
import { lockLiveKey } from '../access/live-key.ts';
import { tenantOf } from '../access/tenant.ts';
import { issueApiKey } from '../api-keys/api-key.ts';
import { auditEvent } from '../audit/audit-event.ts';
import { type Claim, claimDid, forgetContesting, type Registering, taken } from '../claims/contest.ts';
import { RELEASE_DEADLINE_MS, type ReleasedBy, releaseForClaim } from '../claims/release.ts';
import { assertDated } from '../clock/assert-dated.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, internal, invalidRequest } from '../errors.ts';
import { insertStatusList } from '../grants/status-list.ts';
import { requireRoomForMember } from '../orgs/members.ts';
import type { NewPrincipal, PrincipalRecord } from '../ports/principals.ts';
import { type Repositories, StoreError } from '../ports/store.ts';
import { buildManagedDidDocument } from './did-document.ts';
import { domainOf, isAllowedDomain, isServiceManagedDomain, managedPrincipalDid } from './domain.ts';
import { requireOpenSlug } from './reserved-slugs.ts';
import { storeDocument } from './store-document.ts';

export interface NewKey {
  /** Fragment of the key's id; default `key-<n>`. */
  readonly id?: string | undefined;
  readonly publicKeyMultibase: string;
}

export type PrincipalCreateRequest = { readonly org_id?: OrgId | null | undefined } & (
  | { readonly kind: 'managed'; readonly slug: string; readonly keys: readonly NewKey[] }
  | { readonly kind: 'hosted'; readonly did: DidWeb }
);

export interface PrincipalCreated {
  readonly principal: PrincipalRecord;
  readonly apiKey: string;
  readonly apiKeyId: string;
}

export const createPrincipal = async (
  deps: ServiceDeps,
  caller: Caller,
  request: PrincipalCreateRequest,
  requestId: string,
): Promise<PrincipalCreated> => {
  const orgId = await orgForRegistration(deps, caller, request.org_id);
  const draft =
    request.kind === 'managed'
      ? draftManaged(deps, caller, request)
      : await draftHosted(deps, { caller, did: request.did, kind: 'principal', orgId });
  try {
    return await deps.store.transaction(
      async (tx) => {
        await lockLiveKey(tx, caller);
        const by = { caller, requestId };
        if (draft.claim !== null) await releaseForClaim(deps, tx, 'principal', draft.did, draft.claim, by);
        await requireRoomForMember(deps, tx, orgId);
        const created = await insertPrincipal(deps, tx, { ...draft, orgId, mayBeNamed: false }, by);
        if (draft.claim !== null)
          await forgetContesting(tx, { did: draft.did, kind: 'principal', orgId }, draft.claim);
        return created;
      },
      { deadlineMs: RELEASE_DEADLINE_MS, exclusiveKey: draft.did },
    );
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'conflict') throw taken(draft.did);
    throw error;
  }
};

type Draft = Omit<NewPrincipal, 'orgId' | 'mayBeNamed' | 'documentHash'> & {
  readonly document: string | null;
  readonly contentType: string | undefined;
  /** Null for a managed Principal. */
  readonly claim: Claim | null;
};

const draftManaged = (
  deps: ServiceDeps,
  caller: Caller,
  { slug, keys }: Extract<PrincipalCreateRequest, { kind: 'managed' }>,
): Draft => {
  requireOpenSlug(caller, slug);
  const did = managedPrincipalDid(deps.identity, slug);
  const active = keys.map((key, i) => ({
    kid: `${did}#${key.id ?? `key-${i + 1}`}`,
    publicKeyMultibase: strictMultikey(deps, key.publicKeyMultibase, i),
    state: 'active' as const,
  }));
  if (new Set(active.map(({ kid }) => kid)).size !== active.length)
    throw invalidRequest('keys: two keys have the same id; ids must be distinct');
  if (new Set(active.map(({ publicKeyMultibase }) => publicKeyMultibase)).size !== active.length)
    throw invalidRequest(
      'keys: one key stands twice under two ids; a compromise of the one would leave the other',
    );
  const document = buildManagedDidDocument(did, active);
  return {
    did,
    kind: 'managed',
    domain: deps.identity.domain,
    slug,
    verificationState: 'verified',
    verificationToken: encodeBase64url(deps.random.bytes(24)),
    keys: active,
    document,
    contentType: undefined,
    claim: null,
  };
};

const strictMultikey = ({ crypto }: ServiceDeps, multibase: string, i: number): string => {
  const publicKey = decodeMultikey(multibase);
  if (publicKey !== null && crypto.isStrictKey(publicKey)) return multibase;
  throw invalidRequest(
    `keys[${i}].publicKeyMultibase: must be z6Mk… of a canonical Ed25519 key in the prime-order subgroup`,
  );
};

/** Asks the host for the DID document. The Principal is registered whether or not that succeeds. */
const draftHosted = async (deps: ServiceDeps, registering: Registering): Promise<Draft> => {
  const { caller, did } = registering;
  if (parseDidWeb(did) === null || !isAllowedDomain(deps.identity, did))
    throw invalidRequest('did: must be did:web:<host>[:<segment>…] without a port');
  if (isServiceManagedDomain(deps.identity, did))
    throw conflict(`${did} lies under this service's own domain; register it with kind "managed".`);
  const claim = await claimDid(deps, registering, await deps.store.principals.find(did));
  const resolution = await deps.didResolver.resolve(did, tenantOf(caller));
  const isResolved = resolution.kind === 'resolved';
  return {
    did,
    kind: 'hosted',
    domain: domainOf(did),
    slug: null,
    verificationState: 'unverified',
    verificationToken: claim.token,
    claimExpiresAtMs: claim.expiresAtMs,
    claim,
    keys: isResolved ? resolution.keys : [],
    document: isResolved ? resolution.text : null,
    contentType: isResolved ? (resolution.contentType ?? undefined) : undefined,
  };
};

const insertPrincipal = async (
  deps: ServiceDeps,
  tx: Repositories,
  {
    document,
    contentType,
    claim,
    ...draft
  }: Omit<NewPrincipal, 'documentHash'> & Pick<Draft, 'document' | 'contentType' | 'claim'>,
  { caller, requestId }: ReleasedBy & { readonly caller: Caller },
): Promise<PrincipalCreated> => {
  const documentHash = document === null ? null : sha256Of(deps.crypto, document);
  if (document !== null && documentHash !== null)
    await storeDocument(tx, documentHash, document, contentType);
  let principal = await tx.principals.insert({ ...draft, documentHash });
  if (claim?.isProven) principal = await recordProof(deps, tx, principal);
  await insertStatusList(deps, tx, principal);
  const key = await issueApiKey(tx, deps.random, { role: 'principal', subject: principal.did, label: null });
  const { did, kind, orgId } = principal;
  await tx.audit.insert(
    auditEvent(deps, caller, {
      action: 'principal.create',
      target: did,
      requestId,
      orgId,
      details: { kind, org_id: orgId },
    }),
  );
  if (claim?.isProven) {
    const details = { from: 'unverified', to: 'verified', outcome: 'proven' };
    const proof = { action: 'principal.verify', target: did, requestId, orgId, details } as const;
    await tx.audit.insert(auditEvent(deps, caller, proof));
  }
  return { principal, apiKey: key.value, apiKeyId: key.record.keyId };
};

/** Records the proof. The Principal stays verified for 72 h from then on, as after `POST /principals/{did}/verify`. */
const recordProof = async (
  deps: ServiceDeps,
  tx: Repositories,
  { did }: PrincipalRecord,
): Promise<PrincipalRecord> => {
  await tx.principals.recordVerification(did, { state: 'verified', proven: true });
  const principal = await tx.principals.find(did);
  if (principal === null) throw internal(`no Principal ${did}`);
  assertDated(deps, principal.lastCheckedMs ?? 0);
  return principal;
};
