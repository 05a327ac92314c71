/** Entitlements in storage (interface §Entitlement): at most one row an org. */
import type { OrgId } from '@svc/protocol';

export type Production = 'allowed' | 'blocked';
export type EntitlementReason = 'trial' | 'paid' | 'past_due_grace' | 'canceled' | 'comp' | 'none';

/** What the console pushes. */
export interface EntitlementPush {
  readonly production: Production;
  /** Exclusive end of production; null: none. */
  readonly productionUntilMs: number | null;
  /** Production checks dated at or after `capSinceMs` that are covered; null: all. */
  readonly checkCap: number | null;
  /** Never null beside a cap. */
  readonly capSinceMs: number | null;
  readonly reason: EntitlementReason;
  /** When this was so at the console. */
  readonly asOfMs: number;
}

export interface EntitlementRecord extends EntitlementPush {
  readonly orgId: OrgId;
  readonly updatedAtMs: number;
  /** Counts the changes that can alter an answer of the gate; from 1. */
  readonly version: number;
  /** Stored production checks dated at or after `capSinceMs`; null without a cap. */
  readonly checksSinceCap: number | null;
}

export interface EntitlementRepository {
  find(orgId: OrgId): Promise<EntitlementRecord | null>;
}
