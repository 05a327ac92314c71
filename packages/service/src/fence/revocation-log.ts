/**
 * One line in the log for each thing that takes authority away or hands it over. Written after authorisation and before
 * commit: an extra line only repeats a wish, a missing one would let a restore undo it. `svc-admin restore --log` reads them.
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

/** Named and told as it is kept beside the fence. */
interface Ended {
  readonly ended: string;
  readonly kept: JsonObject;
}

const endOf = (record: LoggedRecord): Ended => ({ ended: nameOf(record), kept: keptOf(record) });

/** What became of a DID that was registered at `since_ms`. */
interface HandedOver {
  readonly did: DidWeb;
  readonly kind: ClaimKind;
  readonly since_ms: number;
  readonly at_ms: number;
  /** The org that had it, and the one that has it now; `released`: nobody. */
  readonly from_org: OrgId | null;
  readonly to_org: OrgId | null | 'released';
}

/** A line stays below what log shippers take. */
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

/** With the key itself: a database that was set back may have never seen it. */
const endOfKey = (
  { did, createdAtMs }: Registered,
  { kid, publicKeyMultibase }: Key,
  state: 'retired' | 'compromised',
): Ended => endOf({ kind: 'key', kid, principal: did, sinceMs: createdAtMs, state, publicKeyMultibase });

export const logEntitlement = (deps: Deps, orgId: OrgId, push: EntitlementPush): void =>
  logRevocation(deps, endOf({ kind: 'entitlement', orgId, push }));

/** Also its end: of the changes of one subject the latest counts. */
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
