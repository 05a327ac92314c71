/**
 * One Principal, one relying party with its key, one status list, and decisions about them as the verify path makes
 * them.
 */
import { createHash, randomBytes, randomInt } from 'node:crypto';
import {
  type ApiKeyId,
  type DidKey,
  type DidWeb,
  encodeUlid,
  type GrantId,
  type OrgId,
  type ReceiptId,
  type Sha256,
} from '@svc/protocol';
import type {
  DecisionCommit,
  GrantRecord,
  NewOutcome,
  PrincipalRecord,
  RelyingPartyRecord,
  Store,
} from '@svc/service';

export interface World {
  readonly store: Store;
  readonly principal: PrincipalRecord;
  readonly relyingParty: RelyingPartyRecord;
  readonly keyHash: string;
  readonly keyId: ApiKeyId;
  readonly listUrl: string;
}

export const sha256Hex = (data: Uint8Array | string): string =>
  createHash('sha256').update(data).digest('hex');
export const hashOf = (data: Uint8Array | string) => `sha256:${sha256Hex(data)}` as Sha256;

const name = () => randomBytes(6).toString('hex');
const ulid = (timeMs = Date.now()) => encodeUlid(timeMs, randomBytes(10));

export const newGrantId = () => `urn:svc:grant:${ulid()}` as GrantId;
export const newAuditId = () => `aud_${ulid()}`;
export const newJti = () => randomBytes(16).toString('base64url');
export const newAgent = () => `did:key:z6Mk${randomBytes(20).toString('hex')}` as DidKey;

export async function insertOrg(store: Store): Promise<OrgId> {
  const orgId = `org_${ulid()}` as OrgId;
  await store.orgs.insert({ orgId, slug: name(), name: 'An org' });
  return orgId;
}

/** The audit row that 0.3.0 writes when the operator transfers a DID from this org to no org. */
export const insertTransferred = (
  store: Pick<Store, 'audit'>,
  action: 'principal.verify' | 'relying_party.update',
  did: DidWeb,
  orgId: OrgId,
): Promise<void> =>
  store.audit.insert({
    eventId: newAuditId(),
    actor: { kind: 'admin', did: null, keyId: null },
    ...{ action, target: did, requestId: null, orgId },
    details: { claim: 'transferred', from_org: orgId, to_org: null },
  });

/** Uses fresh names each time, so that tests in one database do not collide. */
export async function createWorld(store: Store, orgId: OrgId | null = null): Promise<World> {
  const principal = await insertPrincipal(store);
  const relyingParty = await store.relyingParties.insert({
    did: `did:web:shop-${name()}.example` as DidWeb,
    kind: 'hosted',
    slug: null,
    name: 'Shop',
    proofWindowSeconds: 120,
    verifyRateLimitPerMinute: 600,
    profile: 'svc-base-v1',
    orgId,
  });
  const keyHash = randomBytes(32).toString('hex');
  const keyId = keyHash.slice(0, 12) as ApiKeyId;
  await store.apiKeys.insert({ keyHash, keyId, role: 'rp', subject: relyingParty.did, label: null });
  const listUrl = await insertStatusList(store, principal);
  return { store, principal, relyingParty, keyHash, keyId, listUrl };
}

export async function insertPrincipal(store: Store): Promise<PrincipalRecord> {
  const domain = `acme-${name()}.example`;
  const did = `did:web:${domain}` as DidWeb;
  const body = JSON.stringify({ id: did });
  await store.evidence.insert({
    hash: hashOf(body),
    contentType: 'application/json',
    body: Buffer.from(body),
  });
  await store.principals.insert({
    did,
    kind: 'hosted',
    domain,
    slug: null,
    verificationState: 'unverified',
    verificationToken: name(),
    orgId: null,
    mayBeNamed: false,
    keys: [{ kid: `${did}#key-1`, publicKeyMultibase: 'z6MkKey1' }],
    documentHash: hashOf(body),
  });
  await store.principals.recordVerification(did, { state: 'verified', proven: true });
  const principal = await store.principals.find(did);
  if (principal === null) throw new Error(`${did} was inserted and is not found`);
  return principal;
}

export async function insertStatusList(
  store: Store,
  principal: PrincipalRecord,
  sizeBits = 131_072,
): Promise<string> {
  const number = await store.statusLists.takeNumber(principal.domain);
  const url = `https://status.example/${principal.domain}/${number}`;
  const credential = `credential of ${url}`;
  const credentialHash = hashOf(credential);
  await store.evidence.insert({
    hash: credentialHash,
    contentType: 'application/vc+jwt',
    body: Buffer.from(credential),
  });
  await store.statusLists.insert({
    url,
    principal: principal.did,
    domain: principal.domain,
    number,
    sizeBits,
    permutationKey: randomBytes(32),
    bits: new Uint8Array(sizeBits / 8),
    credential,
    credentialHash,
    validFromMs: Date.now(),
  });
  return url;
}

export async function insertGrant(
  { store, principal, listUrl }: World,
  { agent = newAgent() }: Partial<Pick<GrantRecord, 'agent'>> = {},
): Promise<GrantRecord> {
  const taken = await store.statusLists.takeOrdinal(principal.did);
  if (taken === null) throw new Error('the list is full');
  return store.grants.insert({
    id: newGrantId(),
    principal: principal.did,
    agent,
    statusListUrl: listUrl,
    statusIndex: taken.ordinal,
  });
}

/** The hash of the one Grant that the tests sign under this id. */
export const grantHashOf = ({ id }: Pick<GrantRecord, 'id'>): Sha256 => hashOf(id);

export const newOutcome = (
  receiptId: ReceiptId,
  ordinal: number,
  change: Partial<NewOutcome> = {},
): NewOutcome => ({
  attestationId: `oat_${ulid()}`,
  receiptId,
  ordinal,
  type: 'fulfilled',
  occurredAt: '2026-11-20T08:00:00Z',
  evidenceRef: null,
  note: null,
  correctionOf: null,
  reporterSignature: null,
  resolution: null,
  lossAmount: null,
  currency: null,
  consumption: null,
  ...change,
});

/** A DENY before any authentication, evaluated now. */
export function denyCommit(world: World, change: Partial<DecisionCommit> = {}): DecisionCommit {
  const evaluatedAtMs = change.evaluatedAtMs ?? Date.now();
  return {
    receiptId: `drc_${ulid(evaluatedAtMs)}` as ReceiptId,
    jws: `eyj.${name()}.s`,
    decision: 'DENY',
    reason: 'GRANT_MALFORMED',
    evaluatedAtMs,
    relyingParty: { did: world.relyingParty.did, version: world.relyingParty.version },
    keyHash: world.keyHash,
    keyId: world.keyId,
    usedPrincipal: null,
    usedGrantId: null,
    principal: null,
    grantId: null,
    agent: null,
    action: null,
    spend: null,
    bindsGrantHash: null,
    idempotency: null,
    productionCheck: null,
    budget: null,
    ...change,
  };
}

/** An ALLOW of the Grant with a Proof of its own, evaluated now. */
export function allowCommit(
  world: World,
  grant: GrantRecord,
  change: Partial<DecisionCommit> = {},
): DecisionCommit {
  return denyCommit(world, {
    decision: 'ALLOW',
    reason: null,
    usedPrincipal: { did: world.principal.did, version: world.principal.version },
    usedGrantId: grant.id,
    principal: world.principal.did,
    grantId: grant.id,
    agent: grant.agent,
    action: {
      type: 'commerce:purchase',
      amount: randomInt(1, 5_000),
      currency: 'USD',
      resource: 'order/1',
      method: null,
    },
    spend: { grantId: grant.id, jti: newJti(), expiresAtMs: Date.now() + 300_000 },
    bindsGrantHash: grantHashOf(grant),
    ...change,
  });
}
