/** Who is calling (interface §Authentication). The class comes from the stored row, never from the key's prefix. */
import type { DidWeb, OrgId } from '@svc/protocol';
import type { ApiKeyRecord, RelyingPartyRecord } from '../ports/records.ts';

export interface RpCaller {
  readonly class: 'rp';
  readonly subject: DidWeb;
  readonly key: ApiKeyRecord;
  readonly relyingParty: RelyingPartyRecord;
}

export interface PrincipalCaller {
  readonly class: 'principal';
  readonly subject: DidWeb;
  readonly key: ApiKeyRecord;
}

export interface OrgCaller {
  readonly class: 'org';
  readonly role: 'read' | 'admin';
  readonly subject: OrgId;
  readonly key: ApiKeyRecord;
}

export interface ObserverCaller {
  readonly class: 'observer';
  readonly subject: string;
  readonly key: ApiKeyRecord;
}

export interface AdminCaller {
  readonly class: 'admin';
}

export interface ProvisionCaller {
  readonly class: 'provision';
}

export type Caller = RpCaller | PrincipalCaller | OrgCaller | ObserverCaller | AdminCaller | ProvisionCaller;
