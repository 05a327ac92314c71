/**
 * What storage keeps, as the use cases see it. Instants are milliseconds since the epoch, stamped by the
 * database's clock where the storage sets them. `version` counts the changes that can alter a decision.
 */
import type { ApiKeyId, DidKey, DidWeb, GrantId, OrgId, ProfileId, ReceiptId, Sha256 } from '@svc/protocol';

export type PrincipalKind = 'managed' | 'hosted';
export type VerificationState = 'verified' | 'unverified';
export type KeyState = 'active' | 'retired' | 'compromised';
export type { ProfileId };
export type ApiKeyRole = 'principal' | 'rp' | 'org:read' | 'org:admin' | 'observer';

/** A Principal's signing key: a verification method ever seen, and where it is in its life. */
export interface PrincipalKeyRecord {
  readonly kid: string;
  readonly publicKeyMultibase: string;
  readonly state: KeyState;
  readonly sinceMs: number;
}

/** The DID document in force for a Principal: an evidence artifact and when it was obtained. */
export interface IssuerDocumentRecord {
  readonly hash: Sha256;
  readonly body: string;
  readonly resolvedAtMs: number;
}

export interface PrincipalRecord {
  readonly did: DidWeb;
  readonly kind: PrincipalKind;
  /** As it stands in the DID: `example.com`, or `localhost%3A8080` in development. */
  readonly domain: string;
  readonly slug: string | null;
  readonly verificationState: VerificationState;
  readonly verifiedSinceMs: number | null;
  readonly lastCheckedMs: number | null;
  /** When the domain's proof was last found. */
  readonly lastProvenMs: number | null;
  readonly verificationToken: string;
  readonly orgId: OrgId | null;
  readonly mayBeNamed: boolean;
  readonly createdAtMs: number;
  readonly version: number;
  readonly document: IssuerDocumentRecord | null;
  readonly keys: readonly PrincipalKeyRecord[];
}

export interface RelyingPartyRecord {
  readonly did: DidWeb;
  readonly kind: PrincipalKind;
  readonly slug: string | null;
  readonly name: string;
  readonly proofWindowSeconds: number;
  readonly verifyRateLimitPerMinute: number;
  readonly profile: ProfileId;
  readonly orgId: OrgId | null;
  readonly createdAtMs: number;
  readonly version: number;
}

/** An API key without its value; `keyHash` is the SHA-256 of the whole key in lower-case hex (64 characters). */
export interface ApiKeyRecord {
  readonly keyHash: string;
  readonly keyId: ApiKeyId;
  readonly role: ApiKeyRole;
  readonly subject: string;
  readonly label: string | null;
  readonly createdAtMs: number;
  readonly revokedAtMs: number | null;
}

export interface GrantRecord {
  readonly id: GrantId;
  readonly principal: DidWeb;
  readonly agent: DidKey;
  readonly statusListUrl: string;
  readonly statusIndex: number;
  readonly allocatedAtMs: number;
  /** When the revocation was committed: from here on no decision may allow this Grant. */
  readonly revocationRecordedAtMs: number | null;
  /** Stamped under the Principal's exclusive lock: no ALLOW is dated later. */
  readonly revokedAtMs: number | null;
}

/** A status list: its allocation counter and the credential as it was signed. */
export interface StatusListRecord {
  readonly url: string;
  readonly principal: DidWeb;
  /** As it stands in the DID. Unique together with `number`. */
  readonly domain: string;
  readonly number: number;
  readonly sizeBits: number;
  readonly nextOrdinal: number;
  /** Key of the permutation from ordinals to indexes; never leaves the service. */
  readonly permutationKey: Uint8Array;
  readonly bits: Uint8Array;
  readonly credential: string;
  readonly credentialHash: Sha256;
  readonly validFromMs: number;
  readonly version: number;
}

/** A stored artifact, addressed by the SHA-256 of its exact bytes. */
export interface EvidenceRecord {
  readonly hash: Sha256;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface OrgRecord {
  readonly orgId: OrgId;
  readonly slug: string;
  readonly name: string;
  readonly createdAtMs: number;
}

/** A Principal's note of an Agent: inventory, which no decision consults. */
export interface AgentRecord {
  readonly did: DidKey;
  readonly principal: DidWeb;
  readonly createdAtMs: number;
  readonly disabledAtMs: number | null;
}

export type ActorKind = 'admin' | 'principal' | 'rp' | 'org' | 'system';

export interface AuditRecord {
  /** `aud_` and a ULID. */
  readonly eventId: string;
  readonly actor: { readonly kind: ActorKind; readonly did: string | null; readonly keyId: string | null };
  readonly action: string;
  readonly target: string | null;
  readonly requestId: string | null;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

export interface StoredAuditRecord extends AuditRecord {
  readonly occurredAtMs: number;
}

/** A stored Receipt: the JWS alone, since its payload is the rest of the body. */
export interface ReceiptRecord {
  readonly receiptId: ReceiptId;
  readonly relyingParty: DidWeb;
  readonly jws: string;
}
