/** API keys, never their values. */
import type { ApiKeyId } from '@svc/protocol';

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

export interface ApiKeyRepository {
  /** Conflict when `keyId` or `keyHash` is taken. */
  insert(key: Omit<ApiKeyRecord, 'createdAtMs' | 'revokedAtMs'>): Promise<ApiKeyRecord>;
  findByHash(keyHash: string): Promise<ApiKeyRecord | null>;
  findById(keyId: ApiKeyId): Promise<ApiKeyRecord | null>;
  /** Keeps the key from being revoked until the end of the transaction. False when it has been already. */
  holdLive(keyHash: string): Promise<boolean>;
  /** Marks a live key revoked now; null when `subject` has no live key of this id. */
  revoke(subject: string, keyId: ApiKeyId): Promise<ApiKeyRecord | null>;
  /** All keys of a subject, the newest first. */
  list(subject: string): Promise<ApiKeyRecord[]>;
}
