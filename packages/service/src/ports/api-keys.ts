/** Storage of API keys: their hashes, never their values. */
import type { ApiKeyId, OrgId } from '@svc/protocol';

export type ApiKeyRole = 'principal' | 'rp' | 'org:read' | 'org:admin' | 'observer';

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

/** A key, with what authentication needs to know of its subject. */
export interface KnownApiKey extends ApiKeyRecord {
  /** The org of the Principal whose key this is; null for keys of other classes. */
  readonly principalOrgId: OrgId | null;
  /** The org, or the Principal's org, signed itself up, and nobody pays for it. False for keys of other classes. */
  readonly isNewcomer: boolean;
}

export interface ApiKeyRepository {
  /** Rejects with `conflict` when `keyId` or `keyHash` is taken. */
  insert(key: Omit<ApiKeyRecord, 'createdAtMs' | 'revokedAtMs'>): Promise<ApiKeyRecord>;
  /** One round trip for all; answers in the same order. */
  findByHashes(keyHashes: readonly string[]): Promise<(KnownApiKey | null)[]>;
  findById(keyId: ApiKeyId): Promise<ApiKeyRecord | null>;
  /**
   * Number of live keys of all these subjects in these classes. Until the end of the transaction, other calls for the
   * same first subject wait.
   */
  countLiveForUpdate(subjects: readonly [string, ...string[]], roles: readonly ApiKeyRole[]): Promise<number>;
  /** Locks the key, so that it is not revoked before the end of the transaction. False when it is revoked already. */
  lockLive(keyHash: string): Promise<boolean>;
  /** Revokes a live key now; null when `subject` has no live key with this id. */
  revoke(subject: string, keyId: ApiKeyId): Promise<ApiKeyRecord | null>;
  /** Revokes all live keys of a subject in this class now. */
  revokeAll(subject: string, role: ApiKeyRole): Promise<void>;
  /**
   * All live keys of these subjects in these classes, and at most `maxRevoked` of the revoked keys, those revoked last.
   * The newest first.
   */
  list(
    subjects: readonly string[],
    roles: readonly ApiKeyRole[],
    maxRevoked: number,
  ): Promise<ApiKeyRecord[]>;
  findNewestLive(subject: string, role: ApiKeyRole): Promise<ApiKeyRecord | null>;
}
