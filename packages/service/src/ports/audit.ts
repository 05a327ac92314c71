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

/** Who acted: `did` is a DID or an org id, and means this kind of subject only. */
export interface AuditActor {
  readonly kind: 'principal' | 'rp' | 'org';
  readonly did: string;
}

export interface AuditFilter {
  /** Actors whose events are wanted; null: all. */
  readonly actors: readonly AuditActor[] | null;
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
