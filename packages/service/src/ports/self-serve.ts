/** Storage of tenants that signed up by themselves (interface §Self-serve). */
import type { DidWeb, OrgId } from '@svc/protocol';
import type { RelyingPartyRecord } from './relying-parties.ts';

export interface SelfServeTenant {
  readonly orgId: OrgId;
  readonly relyingParty: DidWeb;
  /** Personal data: for the operator, and never answered. */
  readonly adminEmail: string;
}

export interface SelfServeRepository {
  insert(tenant: SelfServeTenant): Promise<void>;
  /**
   * Counts one sign-up of this UTC day, on all nodes together. False, and not counted, when there are `perDay` (at least
   * 1) already. The day's count stays locked until the end of the transaction, and falls back with it.
   */
  takeSignUp(perDay: number): Promise<boolean>;
  /** Counts one call of this UTC day that stores something in the sandbox, in the same way. */
  takeSandboxCall(perDay: number): Promise<boolean>;
  /** Counts one change of an org that self-serve made. False, and not counted, when there were `atMost` already. */
  takeChange(orgId: OrgId, atMost: number): Promise<boolean>;
  /** Null unless self-serve made it and it is still in the org that it was made for. */
  findRelyingParty(did: string): Promise<RelyingPartyRecord | null>;
}
