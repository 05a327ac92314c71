/** API keys, never their values. */
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

/** A key as a caller is known by it. */
export interface KnownApiKey extends ApiKeyRecord {
  /** The org of the Principal whose key it is; null for keys of other classes. */
  readonly principalOrgId: OrgId | null;
  /** The org, or that of the Principal, signed itself up, and nobody pays for it. False for keys of other classes. */
  readonly isNewcomer: boolean;
}

export interface ApiKeyRepository {
  /** Conflict when `keyId` or `keyHash` is taken. */
  insert(key: Omit<ApiKeyRecord, 'createdAtMs' | 'revokedAtMs'>): Promise<ApiKeyRecord>;
  /** One round trip for all; answers in the same order. */
  findByHashes(keyHashes: readonly string[]): Promise<(KnownApiKey | null)[]>;
  findById(keyId: ApiKeyId): Promise<ApiKeyRecord | null>;
  /** The live keys of all subjects in these classes. Nobody else counts those of the first before the end of the transaction. */
  countLiveForUpdate(subjects: readonly [string, ...string[]], roles: readonly ApiKeyRole[]): Promise<number>;
  /** Keeps the key from being revoked until the end of the transaction. False when it has been already. */
  lockLive(keyHash: string): Promise<boolean>;
  /** Marks a live key revoked now; null when `subject` has no live key of this id. */
  revoke(subject: string, keyId: ApiKeyId): Promise<ApiKeyRecord | null>;
  /** Marks the live keys of a subject of this class revoked now. */
  revokeAll(subject: string, role: ApiKeyRole): Promise<void>;
  /**
   * Every live key of these subjects in these classes, and so many of the revoked ones at most, those revoked last. The newest
   * first.
   */
  list(
    subjects: readonly string[],
    roles: readonly ApiKeyRole[],
    maxRevoked: number,
  ): Promise<ApiKeyRecord[]>;
  findNewestLive(subject: string, role: ApiKeyRole): Promise<ApiKeyRecord | null>;
}
