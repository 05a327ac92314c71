/** Storage of tenants that signed up by themselves (interface §Self-serve). */
import type { DidWeb, OrgId } from '@svc/protocol';
import type { RelyingPartyRecord } from './relying-parties.ts';

export interface SelfServeTenant {
  readonly orgId: OrgId;
  readonly relyingParty: DidWeb;
  /** Personal data for the operator. Never part of an answer. */
  readonly adminEmail: string;
}

export interface SelfServeRepository {
  insert(tenant: SelfServeTenant): Promise<void>;
  /**
   * Counts one sign-up of this UTC day, for all nodes together. False, and not counted, when there were `perDay` (at
   * least 1) already. The day's count is locked until the end of the transaction, and rolled back with it.
   */
  takeSignUp(perDay: number): Promise<boolean>;
  /** Counts one call of this UTC day that stores something in the sandbox, as `takeSignUp` counts sign-ups. */
  takeSandboxCall(perDay: number): Promise<boolean>;
  /** Counts one change in an org that self-serve created. False, and not counted, when there were `atMost` already. */
  takeChange(orgId: OrgId, atMost: number): Promise<boolean>;
  /** A relying party that self-serve created and that is still in its first org; else null. */
  findRelyingParty(did: string): Promise<RelyingPartyRecord | null>;
}
