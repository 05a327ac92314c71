/** Storage of Principals, their signing keys and their documents in force. */
import type { DidWeb, OrgId, Sha256 } from '@svc/protocol';

export type PrincipalKind = 'managed' | 'hosted';

export type VerificationState = 'verified' | 'unverified';

export type KeyState = 'active' | 'retired' | 'compromised';

/** A Principal's signing key: a verification method that was ever seen, and its state. */
export interface PrincipalKeyRecord {
  readonly kid: string;
  readonly publicKeyMultibase: string;
  readonly state: KeyState;
  readonly sinceMs: number;
  /** Since when the hosted document in force does not list the key; null where it does. */
  readonly withdrawnMs: number | null;
}

/** The DID document in force for a Principal: its evidence, and when it was obtained. */
export interface IssuerDocumentRecord {
  readonly hash: Sha256;
  readonly body: string;
  readonly resolvedAtMs: number;
}

export interface PrincipalRecord {
  readonly did: DidWeb;
  readonly kind: PrincipalKind;
  /** The domain as written in the DID: `example.com`, or `localhost%3A8080` in development. */
  readonly domain: string;
  readonly slug: string | null;
  /**
   * State in force at the time of the read: the recorded one, which expires 72 h after the last proof (protocol §13).
   */
  readonly verificationState: VerificationState;
  /** State after the last check. */
  readonly recordedState: VerificationState;
  /** Null while the Principal is not verified. */
  readonly verifiedSinceMs: number | null;
  readonly lastCheckedMs: number | null;
  /** When the domain's proof was last found. */
  readonly lastProvenMs: number | null;
  readonly verificationToken: string;
  readonly orgId: OrgId | null;
  /**
   * Time by which an org must prove the domain of a DID that it claims. Null: it was proven once, or there is no claim.
   */
  readonly claimExpiresAtMs: number | null;
  readonly mayBeNamed: boolean;
  readonly createdAtMs: number;
  readonly version: number;
  readonly document: IssuerDocumentRecord | null;
  readonly keys: readonly PrincipalKeyRecord[];
}

/** A Principal in a list of an org's members: without the document and the keys, which can be large. */
export type PrincipalMemberRecord = Omit<PrincipalRecord, 'document' | 'keys'>;

export type NewPrincipal = Omit<
  PrincipalRecord,
  | 'createdAtMs'
  | 'version'
  | 'document'
  | 'keys'
  | 'recordedState'
  | 'verifiedSinceMs'
  | 'lastCheckedMs'
  | 'lastProvenMs'
  | 'claimExpiresAtMs'
> & {
  /** Default: null. */
  readonly claimExpiresAtMs?: number | null;
  readonly keys: readonly { readonly kid: string; readonly publicKeyMultibase: string }[];
  /** Hash of a document that is stored as evidence; its time of resolution is now. */
  readonly documentHash: Sha256 | null;
};

export interface PrincipalRepository {
  /** Rejects with `conflict` when the DID is taken. A Principal that is inserted as verified is verified since now. */
  insert(principal: NewPrincipal): Promise<PrincipalRecord>;
  find(did: string): Promise<PrincipalRecord | null>;
  /**
   * When the present holder of the DID got it, by registration or transfer. `Infinity` for a DID that is not
   * registered.
   */
  findHeldSince(did: DidWeb): Promise<number>;
  /** As `findHeldSince`; the DID is not transferred before the end of the transaction. */
  lockHeldSince(did: DidWeb): Promise<number>;
  /**
   * Waits, 2 s at most (else `lock_timeout`), for the commits under way of decisions about the Principal's Grants. No
   * such decision is stored until the end of the transaction. To be called after the transaction has locked the
   * Principal's row: a wait for the row under this lock would delay decisions, and commits lock no such row.
   */
  holdDecisions(did: DidWeb): Promise<void>;
  /** The DIDs of an org's member Principals, ascending. */
  listDidsOfOrg(orgId: OrgId): Promise<DidWeb[]>;
  /** Ascending DIDs. */
  listOfOrg(orgId: OrgId): Promise<PrincipalMemberRecord[]>;
  /**
   * Sets a key's state and increments the Principal's version. States only go forward: active, retired, compromised.
   * False, and nothing changed, when there is no such key, or it has this state or a later one.
   */
  setKeyState(principal: DidWeb, kid: string, state: KeyState): Promise<boolean>;
  /** Whether `noteCompromiseVisible` was called for this key of the Principal. */
  isCompromiseVisible(principal: DidWeb, kid: string): Promise<boolean>;
  /** Records that the barrier was passed after the key's compromise: no further decision will use the key. */
  noteCompromiseVisible(principal: DidWeb, kid: string): Promise<void>;
  /** Locks the row until the end of the transaction; its keys and document are read under the lock. */
  findForUpdate(did: string): Promise<PrincipalRecord | null>;
  /** Reads the row as it is now, and locks it against changes until the end of the transaction. */
  findForShare(did: string): Promise<PrincipalRecord | null>;
  /** Ascending DIDs, at most `limit` rows. */
  list(filter: PrincipalFilter): Promise<PrincipalRecord[]>;
  /** False when there is no such Principal. */
  setMayBeNamed(did: DidWeb, mayBeNamed: boolean): Promise<boolean>;
  /** Puts a Principal without an org into one. False when there is no such Principal, or it is in an org already. */
  setOrg(did: DidWeb, orgId: OrgId): Promise<boolean>;
  /**
   * Records the outcome of a check of the domain, dated now. A change of state increments the version and starts a new
   * `verifiedSince`. `proven` sets the time of the last proof, and ends a claim.
   */
  recordVerification(
    did: DidWeb,
    result: { readonly state: VerificationState; readonly proven: boolean },
  ): Promise<void>;
  /**
   * Puts a document, which is stored as evidence, in force, with now as its time of resolution. Keys that were never
   * seen before are stored as active since now. Keys of a hosted Principal that the document does not list are
   * withdrawn since now. Increments the version when the document has changed.
   */
  putDocument(
    did: DidWeb,
    documentHash: Sha256,
    keys: readonly { readonly kid: string; readonly publicKeyMultibase: string }[],
  ): Promise<void>;
  /**
   * Deletes a hosted Principal that never proved its domain, with its keys, Grants, lists and Agents. Rejects for any
   * other.
   */
  release(did: DidWeb): Promise<void>;
  /**
   * Transfers the Principal to another org, or to none, and increments the version. A hosted Principal must prove its
   * domain again, with this token.
   */
  transfer(did: DidWeb, orgId: OrgId | null, verificationToken: string): Promise<void>;
  /** DIDs of expired claims. */
  listExpiredClaims(limit: number): Promise<DidWeb[]>;
  /**
   * Counts one change of the Principal's document; `perHour` are allowed. False, and not counted, when none is left.
   * Locks the Principal's row.
   */
  takeDocumentChange(did: DidWeb, perHour: number): Promise<boolean>;
  /**
   * Hosted Principals to be checked now. Orgs take turns; within an org, the Principal that has been due the longest is
   * first. A Principal is due if:
   * - it was never checked, or last checked 24 hours ago;
   * - it is verified, and an hour has passed since a check that could not be made;
   * - it is verified, and its proof was last found 72 hours ago.
   *
   * Where very many are due, only the longest due and some Principals of other orgs, each time different ones, take
   * turns.
   */
  listDueForVerification(limit: number): Promise<PrincipalRecord[]>;
}

export interface PrincipalFilter {
  readonly kind?: PrincipalKind | undefined;
  readonly state?: VerificationState | undefined;
  readonly orgId?: OrgId | undefined;
  /** DIDs above this one (exclusive). */
  readonly afterDid?: string | undefined;
  readonly limit: number;
  /** The list ends one Principal after the documents and keys listed have this many bytes in all. Default: no limit. */
  readonly maxBytes?: number | undefined;
}
