/**
 * The caller of a route (interface §Authentication). The class comes from the stored row, never from the key's prefix. The
 * operator's and the console's secrets come from the configuration: they have no subject and no stored key.
 */
import type { ApiKeyId, DidWeb, OrgId } from '@svc/protocol';
import type { ApiKeyRecord } from '../ports/api-keys.ts';
import type { EntitlementRecord } from '../ports/entitlements.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';

/** A caller whose org was, when the key was looked up, one that signed itself up and that nobody pays for. */
interface OfOrg {
  readonly isNewcomer: boolean;
}

export interface RpCaller extends OfOrg {
  readonly class: 'rp';
  readonly subject: DidWeb;
  readonly keyId: ApiKeyId;
  readonly key: ApiKeyRecord;
  readonly relyingParty: RelyingPartyRecord;
  /** Entitlement of the relying party's org, as it was when the key was looked up. */
  readonly entitlement: EntitlementRecord | null;
  /** It, its org or the whole service is paused: nothing is allowed that it asks. */
  readonly isPaused: boolean;
}

export interface PrincipalCaller extends OfOrg {
  readonly class: 'principal';
  readonly subject: DidWeb;
  /** As it was when the key was looked up. */
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
  /** Which key of the configured set. */
  readonly ordinal: number;
}

export type Caller = RpCaller | PrincipalCaller | OrgCaller | ObserverCaller | AdminCaller | ProvisionCaller;

/** The org that the caller is, or whose member it is, if any. */
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
