/** Principals, their signing keys and their documents in force. */
import type { DidWeb, OrgId, Sha256 } from '@svc/protocol';

export type PrincipalKind = 'managed' | 'hosted';

export type VerificationState = 'verified' | 'unverified';

export type KeyState = 'active' | 'retired' | 'compromised';

/** A Principal's signing key: a verification method ever seen, and where it is in its life. */
export interface PrincipalKeyRecord {
  readonly kid: string;
  readonly publicKeyMultibase: string;
  readonly state: KeyState;
  readonly sinceMs: number;
  /** Since when the hosted document in force does not list it; null where it does. */
  readonly withdrawnMs: number | null;
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
  /** In force when it was read: the recorded one, which lapses 72 h after the last proof (protocol §13). */
  readonly verificationState: VerificationState;
  /** As the last check left it. */
  readonly recordedState: VerificationState;
  /** Null while it is not verified. */
  readonly verifiedSinceMs: number | null;
  readonly lastCheckedMs: number | null;
  /** When the domain's proof was last found. */
  readonly lastProvenMs: number | null;
  readonly verificationToken: string;
  readonly orgId: OrgId | null;
  /** Until when an org has to prove the domain of a DID that it claims. Null: proven once, or no claim. */
  readonly claimExpiresAtMs: number | null;
  readonly mayBeNamed: boolean;
  readonly createdAtMs: number;
  readonly version: number;
  readonly document: IssuerDocumentRecord | null;
  readonly keys: readonly PrincipalKeyRecord[];
}

/** A Principal as a member of its org is shown: without the document and the keys, which can be large. */
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
  /** Unless given: null. */
  readonly claimExpiresAtMs?: number | null;
  readonly keys: readonly { readonly kid: string; readonly publicKeyMultibase: string }[];
  /** Hash of a document already stored as evidence; resolved now. */
  readonly documentHash: Sha256 | null;
};

export interface PrincipalRepository {
  /** Conflict when the DID is taken. A principal inserted as verified is verified since now. */
  insert(principal: NewPrincipal): Promise<PrincipalRecord>;
  find(did: string): Promise<PrincipalRecord | null>;
  /**
   * Since when its present holder has the DID: since it was registered, or transferred. `Infinity` for one that is not
   * registered.
   */
  findHeldSince(did: DidWeb): Promise<number>;
  /** The same; until the end of the transaction nobody transfers it. */
  lockHeldSince(did: DidWeb): Promise<number>;
  /**
   * Waits for the decisions about its Grants that are being stored, for 2 s at most (`lock_timeout`). Until the end of the
   * transaction none is. To be called first: commits take this lock before all others.
   */
  holdDecisions(did: DidWeb): Promise<void>;
  /** The DIDs of an org's member Principals, ascending. */
  listDidsOfOrg(orgId: OrgId): Promise<DidWeb[]>;
  /** Ascending DIDs. */
  listOfOrg(orgId: OrgId): Promise<PrincipalMemberRecord[]>;
  /**
   * Moves a key on and bumps the Principal's version. States only go forward: active, retired, compromised. False, and
   * nothing changed, when there is no such key or it is there already, or further.
   */
  setKeyState(principal: DidWeb, kid: string, state: KeyState): Promise<boolean>;
  /** True once `noteCompromiseVisible` was called for this key of the Principal. */
  isCompromiseVisible(principal: DidWeb, kid: string): Promise<boolean>;
  /** That the barrier was passed after the compromise of this key: no decision rests on it any more. */
  noteCompromiseVisible(principal: DidWeb, kid: string): Promise<void>;
  /** Locks the row until the end of the transaction; its keys and document are read under the lock. */
  findForUpdate(did: string): Promise<PrincipalRecord | null>;
  /** As it is now; nobody changes it before the end of the transaction. */
  findForShare(did: string): Promise<PrincipalRecord | null>;
  /** Ascending DIDs, at most `limit` rows. */
  list(filter: PrincipalFilter): Promise<PrincipalRecord[]>;
  /** False when absent. */
  setMayBeNamed(did: DidWeb, mayBeNamed: boolean): Promise<boolean>;
  /** Puts a Principal without an org into one. False when it is absent or in an org already. */
  setOrg(did: DidWeb, orgId: OrgId): Promise<boolean>;
  /**
   * Records the outcome of a check of the domain, dated now. A state that changes bumps the version and starts a new
   * `verifiedSince`; `proven` dates the last proof found, and ends a claim.
   */
  recordVerification(
    did: DidWeb,
    result: { readonly state: VerificationState; readonly proven: boolean },
  ): Promise<void>;
  /**
   * Puts a document (already stored as evidence) in force, resolved now, and remembers keys never seen before as active
   * since now. Of a hosted Principal, those that it does not list are withdrawn since now. Bumps the version when the
   * document is another one than before.
   */
  putDocument(
    did: DidWeb,
    documentHash: Sha256,
    keys: readonly { readonly kid: string; readonly publicKeyMultibase: string }[],
  ): Promise<void>;
  /** Forgets a hosted Principal that never proved its domain, with its keys, Grants, lists and Agents. Refused otherwise. */
  release(did: DidWeb): Promise<void>;
  /**
   * Gives it to another org, or none, and bumps the version. A hosted one has to prove its domain anew, by this token.
   */
  transfer(did: DidWeb, orgId: OrgId | null, verificationToken: string): Promise<void>;
  /** Claims whose time is over. */
  listExpiredClaims(limit: number): Promise<DidWeb[]>;
  /**
   * Takes one of the changes of its document that a Principal has in an hour; false, and nothing taken, when there is none
   * left. The row is locked.
   */
  takeDocumentChange(did: DidWeb, perHour: number): Promise<boolean>;
  /**
   * Hosted Principals to be checked now: orgs in turn, and of each the longest due first. Due is one that was never checked, or
   * 24 hours ago; a verified one also an hour after a check that could not be made, and 72 hours after its proof was last found.
   * Where very many are due, turns are among the longest due and some of the other orgs, each time others.
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
  /** The list ends one Principal after those whose documents and keys together have so many bytes. Unless given: no bound. */
  readonly maxBytes?: number | undefined;
}
