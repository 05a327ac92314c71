/** Audit events (interface §AuditEvent): who did what to what, written in the transaction that does it. */
import { encodeUlid, type OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import type { AuditRecord } from '../ports/audit.ts';

export type AuditAction =
  | 'principal.create'
  | 'principal.verify'
  | 'relying_party.create'
  | 'relying_party.update'
  | 'api_key.create'
  | 'api_key.revoke'
  | 'agent.register'
  | 'agent.disable'
  | 'key.retire'
  | 'key.compromise'
  | 'grant.allocate'
  | 'grant.revoke'
  | 'sandbox.create'
  | 'outcome.report'
  | 'subscription.create'
  | 'subscription.rotate'
  | 'subscription.disable'
  | 'subscription.enable'
  | 'subscription.delete'
  | 'stream.create'
  | 'stream.update'
  | 'stream.status'
  | 'stream.delete'
  | 'pause.set'
  | 'pause.lift'
  | 'approval.request'
  | 'approval.approve'
  | 'approval.reject'
  | 'approval.cancel'
  // The repair writes it itself (store-pg, clock-repair.ts).
  | 'clock.repair'
  // An operator releases Grants that a restore withheld.
  | 'restore.release'
  // The change writes it itself (store-pg, service-did.ts).
  | 'service_did.change';

/** The service itself as an actor: for work of the worker that nobody requested. */
export interface SystemActor {
  readonly class: 'system';
}
export const SYSTEM: SystemActor = { class: 'system' };

export interface Audited {
  readonly action: AuditAction;
  readonly target: string | null;
  readonly requestId: string | null;
  /** The org whose member the action concerns: the org's keys see the event, whoever acted. */
  readonly orgId?: OrgId | null;
  readonly details?: AuditRecord['details'];
}

export const auditEvent = (
  { clock, random }: Pick<ServiceDeps, 'clock' | 'random'>,
  caller: Caller | SystemActor,
  { action, target, requestId, orgId = null, details = {} }: Audited,
): AuditRecord => ({
  eventId: `aud_${encodeUlid(clock.nowMs(), random.bytes(10))}`,
  actor: actorOf(caller),
  action,
  target,
  requestId,
  orgId,
  details,
});

export const actorOf = (caller: Caller | SystemActor): AuditRecord['actor'] => {
  switch (caller.class) {
    case 'admin':
      return { kind: 'admin', did: null, keyId: null };
    case 'principal':
    case 'rp':
    case 'org':
      return { kind: caller.class, did: caller.subject, keyId: caller.key.keyId };
    case 'observer':
    case 'provision':
    case 'system':
      return { kind: 'system', did: null, keyId: null };
  }
};
