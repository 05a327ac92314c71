import type { OrgId } from '@svc/protocol';

export type ActorKind = 'admin' | 'principal' | 'rp' | 'org' | 'system';

export interface AuditRecord {
  /** `aud_` and a ULID. */
  readonly eventId: string;
  readonly actor: { readonly kind: ActorKind; readonly did: string | null; readonly keyId: string | null };
  readonly action: string;
  readonly target: string | null;
  readonly requestId: string | null;
  /** The org of the member that the action was done to, at that time. */
  readonly orgId?: OrgId | null;
  readonly details: Readonly<Record<string, string | number | boolean | null>>;
}

export interface StoredAuditRecord extends Omit<AuditRecord, 'orgId'> {
  readonly occurredAtMs: number;
}

/** A subject that acted. `did` is a DID or an org id; only subjects of this kind match. */
export interface AuditActor {
  readonly kind: 'principal' | 'rp' | 'org';
  readonly did: string;
}

/** The events that a caller may read: those by these actors, and those done by anyone to a member of this org. */
export interface AuditScope {
  /**
   * Only events since the DID was registered or transferred match, so actions of an earlier holder of the DID are left
   * out.
   */
  readonly actors: readonly AuditActor[];
  readonly orgId: OrgId | null;
}

export interface AuditFilter {
  /** Null: all. */
  readonly scope: AuditScope | null;
  /** DID or org id of the actor, of any kind. */
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
  /** Inserts all events in one round trip. */
  insertAll(events: readonly AuditRecord[]): Promise<void>;
  /** Descending event ids; at most `limit` rows. */
  list(filter: AuditFilter): Promise<StoredAuditRecord[]>;
}
