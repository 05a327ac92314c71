/**
 * Writes one log line for each change that takes authority away or hands it over. It is written after authorisation and
 * before the commit: a line whose change was not committed only repeats a request, while a missing line would let a
 * restore undo the change. `svc-admin restore --log` reads these lines.
 */
import type { DidKey, DidWeb, GrantId, JsonObject, OrgId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import type { ClaimKind } from '../ports/claims.ts';
import type { EntitlementPush } from '../ports/entitlements.ts';
import type { PauseRecord } from '../ports/pauses.ts';
import type { PrincipalKeyRecord } from '../ports/principals.ts';
import { keptOf, type LoggedRecord, nameOf } from './records.ts';

type Revoked =
  | { readonly principal: DidWeb; readonly grant_ids: readonly GrantId[] }
  | ({ readonly principal: DidWeb; readonly kid: string } & Ended)
  | { readonly key_id: string }
  | Ended
  | HandedOver;

/** A record with its name and JSON, as kept beside the fence. */
interface Ended {
  readonly ended: string;
  readonly kept: JsonObject;
}

const endOf = (record: LoggedRecord): Ended => ({ ended: nameOf(record), kept: keptOf(record) });

/** The hand-over of a DID that was registered at `since_ms`. */
interface HandedOver {
  readonly did: DidWeb;
  readonly kind: ClaimKind;
  readonly since_ms: number;
  readonly at_ms: number;
  /** The org that had the DID, and the org that has it now; `released`: it is no longer registered. */
  readonly from_org: OrgId | null;
  readonly to_org: OrgId | null | 'released';
}

/** Keeps a line below the limits of log shippers. */
const IDS_PER_LINE = 500;

type Deps = Pick<ServiceDeps, 'log'>;

export const logRevocation = ({ log }: Deps, revoked: Revoked): void => {
  if (!('grant_ids' in revoked)) {
    log.info('revocation', { ...revoked });
    return;
  }
  const { principal, grant_ids: ids } = revoked;
  for (let from = 0; from < ids.length; from += IDS_PER_LINE)
    log.info('revocation', { principal, grant_ids: ids.slice(from, from + IDS_PER_LINE) });
};

/** A Principal as it is registered now. */
interface Registered {
  readonly did: DidWeb;
  readonly createdAtMs: number;
}

export const logDisabledAgent = (deps: Deps, { did, createdAtMs }: Registered, agent: DidKey): void =>
  logRevocation(deps, endOf({ kind: 'agent', principal: did, sinceMs: createdAtMs, agent }));

type Key = Pick<PrincipalKeyRecord, 'kid' | 'publicKeyMultibase'>;

export const logRetiredKey = (deps: Deps, principal: Registered, key: Key): void =>
  logRevocation(deps, endOfKey(principal, key, 'retired'));

export const logCompromisedKey = (deps: Deps, principal: Registered, key: Key): void =>
  logRevocation(deps, {
    ...{ principal: principal.did, kid: key.kid },
    ...endOfKey(principal, key, 'compromised'),
  });

/** Includes the key itself, because a database that was set back may not have it. */
const endOfKey = (
  { did, createdAtMs }: Registered,
  { kid, publicKeyMultibase }: Key,
  state: 'retired' | 'compromised',
): Ended => endOf({ kind: 'key', kid, principal: did, sinceMs: createdAtMs, state, publicKeyMultibase });

export const logEntitlement = (deps: Deps, orgId: OrgId, push: EntitlementPush): void =>
  logRevocation(deps, endOf({ kind: 'entitlement', orgId, push }));

/** Logs pauses and resumptions, because the latest change of a subject is the one in force. */
export const logPause = (deps: Deps, pause: PauseRecord, sinceMs: number): void =>
  logRevocation(deps, endOf({ kind: 'pause', ...pause, sinceMs }));

export const logHandOver = (
  deps: Pick<ServiceDeps, 'log' | 'clock'>,
  kind: ClaimKind,
  { did, createdAtMs, orgId }: Registered & { readonly orgId: OrgId | null },
  toOrg: HandedOver['to_org'],
): void =>
  logRevocation(deps, {
    ...{ did, kind, since_ms: createdAtMs, at_ms: deps.clock.nowMs() },
    ...{ from_org: orgId, to_org: toOrg },
  });
