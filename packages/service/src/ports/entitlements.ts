/** Storage of entitlements (interface §Entitlement): at most one row for each org. */
import type { OrgId } from '@svc/protocol';

export type Production = 'allowed' | 'blocked';
export type EntitlementReason = 'trial' | 'paid' | 'past_due_grace' | 'canceled' | 'comp' | 'none';

/** An entitlement as the console pushes it. */
export interface EntitlementPush {
  readonly production: Production;
  /** Exclusive end of production; null: none. */
  readonly productionUntilMs: number | null;
  /** How many production checks dated at or after `capSinceMs` are covered; null: all. */
  readonly checkCap: number | null;
  /** Never null where there is a cap. */
  readonly capSinceMs: number | null;
  readonly reason: EntitlementReason;
  /** When the console had this state. */
  readonly asOfMs: number;
}

export interface EntitlementRecord extends EntitlementPush {
  readonly orgId: OrgId;
  readonly updatedAtMs: number;
  /** Number of changes that can alter an answer of the gate, from 1. */
  readonly version: number;
  /** Number of stored production checks dated at or after `capSinceMs`; null without a cap. */
  readonly checksSinceCap: number | null;
}

export interface EntitlementRepository {
  find(orgId: OrgId): Promise<EntitlementRecord | null>;
}
