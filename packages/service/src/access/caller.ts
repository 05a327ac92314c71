/**
 * The caller of a route (interface §Authentication). Its class comes from the stored row, never from the key's prefix.
 * The secrets of the operator and the console come from the configuration: these callers have no subject and no stored
 * key.
 */
import type { ApiKeyId, DidWeb, OrgId } from '@svc/protocol';
import type { ApiKeyRecord } from '../ports/api-keys.ts';
import type { EntitlementRecord } from '../ports/entitlements.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';

/**
 * A caller that can belong to an org. `isNewcomer`: when the key was looked up, the org had signed itself up and nobody
 * paid for it.
 */
interface OfOrg {
  readonly isNewcomer: boolean;
}

export interface RpCaller extends OfOrg {
  readonly class: 'rp';
  readonly subject: DidWeb;
  readonly keyId: ApiKeyId;
  readonly key: ApiKeyRecord;
  readonly relyingParty: RelyingPartyRecord;
  /** Entitlement of the relying party's org when the key was looked up. */
  readonly entitlement: EntitlementRecord | null;
  /** True when the relying party, its org or the whole service is paused: every decision for it is then a DENY. */
  readonly isPaused: boolean;
}

export interface PrincipalCaller extends OfOrg {
  readonly class: 'principal';
  readonly subject: DidWeb;
  /** The Principal's org when the key was looked up. */
  readonly orgId: OrgId | null;
  readonly keyId: ApiKeyId;
  readonly key: ApiKeyRecord;
}

export interface OrgCaller extends OfOrg {
  readonly class: 'org';
  readonly role: 'read' | 'admin';
  readonly subject: OrgId;
  readonly keyId: ApiKeyId;
  readonly key: ApiKeyRecord;
}

export interface ObserverCaller {
  readonly class: 'observer';
  readonly subject: string;
  readonly keyId: ApiKeyId;
  readonly key: ApiKeyRecord;
}

export interface AdminCaller {
  readonly class: 'admin';
  readonly subject: null;
  readonly keyId: null;
}

export interface ProvisionCaller {
  readonly class: 'provision';
  readonly subject: null;
  readonly keyId: null;
  /** Index of the key in the configured set. */
  readonly ordinal: number;
}

export type Caller = RpCaller | PrincipalCaller | OrgCaller | ObserverCaller | AdminCaller | ProvisionCaller;

/** The org that the caller is or belongs to; null for none. */
export const orgOfCaller = (caller: Caller): OrgId | null => {
  switch (caller.class) {
    case 'org':
      return caller.subject;
    case 'principal':
      return caller.orgId;
    case 'rp':
      return caller.relyingParty.orgId;
    default:
      return null;
  }
};
