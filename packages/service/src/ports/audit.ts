import type { OrgId } from '@svc/protocol';

export type ActorKind = 'admin' | 'principal' | 'rp' | 'org' | 'system';

export interface AuditRecord {
  /** `aud_` and a ULID. */
  readonly eventId: string;
  readonly actor: { readonly kind: ActorKind; readonly did: string | null; readonly keyId: string | null };
  readonly action: string;
  readonly target: string | null;
  readonly requestId: string | null;
  /** The org whose member it was done to, at that time. */
  readonly orgId?: OrgId | null;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

export interface StoredAuditRecord extends Omit<AuditRecord, 'orgId'> {
  readonly occurredAtMs: number;
}

/** The subject that acted: `did` is a DID or an org id, and means a subject of this kind only. */
export interface AuditActor {
  readonly kind: 'principal' | 'rp' | 'org';
  readonly did: string;
}

/** Events that a caller may read: by these actors, or done to a member of this org, whoever acted. */
export interface AuditScope {
  /** What was done by whoever had the DID before does not count: only events since it was registered, or transferred. */
  readonly actors: readonly AuditActor[];
  readonly orgId: OrgId | null;
}

export interface AuditFilter {
  /** Null: all. */
  readonly scope: AuditScope | null;
  /** DID or org id of who acted, as whatever kind of subject. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** Inclusive. */
  readonly sinceMs?: number | undefined;
  /** Exclusive. */
  readonly untilMs?: number | undefined;
  /** Events with ids below this one (exclusive). */
  readonly beforeId?: string | undefined;
  readonly limit: number;
}

export interface AuditRepository {
  insert(event: AuditRecord): Promise<void>;
  /** In one round trip. */
  insertAll(events: readonly AuditRecord[]): Promise<void>;
  /** Descending event ids; at most `limit` rows. */
  list(filter: AuditFilter): Promise<StoredAuditRecord[]>;
}
