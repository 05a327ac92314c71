/**
 * Ends again what a restored database has in force again: keys, Agents, entitlements, pauses, service keys. Uses the
 * records kept beside the fence, and the log.
 */
import type { ApiKeyId } from '@svc/protocol';
import { disableAgent } from '../agents/disable-agent.ts';
import { auditedKey } from '../api-keys/manage-api-keys.ts';
import { auditEvent, SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import {
  type ChangedPause,
  type DisabledAgent,
  type EndedKey,
  type EndedServiceKey,
  nameOf,
  nameOfKey,
  type PushedEntitlement,
  parseRecords,
  type RevokedApiKey,
  type RevokedKind,
  type RevokedOf,
  type RevokedRecord,
} from '../fence/records.ts';
import { isToPauseAgain, pauseAgain } from '../pauses/set-pause.ts';
import type { EntitlementPush } from '../ports/entitlements.ts';
import type { KeyState } from '../ports/principals.ts';
import { compromiseKey, retireKey } from '../signing-keys/signing-keys.ts';
import type { LoggedRevocations } from './read-log.ts';

/** Request id in the audit log. */
const REQUEST_ID = 'svc-admin-restore';

/** What this run has ended, or changed, again. */
export interface EndedAgain {
  readonly keys: number;
  readonly apiKeys: number;
  readonly agents: number;
  readonly entitlements: number;
  /** Number of subjects that were paused or resumed again. */
  readonly pauses: number;
  /** Kids of service keys. */
  readonly serviceKeys: readonly string[];
  /**
   * Kids of Principals' keys that were retired or compromised and are not in this database. Older copies and log lines
   * do not have the key itself, so such a key becomes active when it is seen.
   */
  readonly unknownKeys: readonly string[];
}

/**
 * `kept`: records beside the fence. Every step is safe to repeat. Rejects with the error of the first step that fails.
 */
export const endAgain = async (
  deps: ServiceDeps,
  kept: readonly RevokedRecord[],
  logged: LoggedRevocations,
): Promise<EndedAgain> => {
  const ended: RevokedRecord[] = [];
  const unknownKeys = new Set<string>();
  for (const record of latestOf(kept, parseRecords(logged.ended))) {
    const end = await restoringOf(record).endAgain(deps, record);
    if (end === 'ended') ended.push(record);
    if (end === 'unknown' && record.kind === 'key') unknownKeys.add(record.kid);
  }
  let keysByLog = 0;
  for (const [kid, principal] of compromisedWithoutMore(logged)) {
    const end = await moveKey(deps, principal, kid, 'compromised');
    if (end === 'ended') keysByLog += 1;
    if (end === 'unknown') unknownKeys.add(kid);
  }
  for (const record of apiKeysOf(logged))
    if ((await revokeApiKey(deps, record)) === 'ended') ended.push(record);
  const count = (kind: RevokedKind) => ended.filter((record) => record.kind === kind).length;
  return {
    keys: count('key') + keysByLog,
    apiKeys: count('api-key'),
    agents: count('agent'),
    entitlements: count('entitlement'),
    pauses: count('pause'),
    serviceKeys: ended.flatMap((record) => (record.kind === 'service-key' ? [record.kid] : [])),
    unknownKeys: await listUnknownKeys(deps, unknownKeys),
  };
};

/** Whether something that a log line ended is still in force in this database. Changes nothing. */
export const isOpen = (deps: ServiceDeps, record: RevokedRecord): Promise<boolean> =>
  restoringOf(record).isOpen(deps, record);

/**
 * Kids and Principals of compromised keys in log lines without the registration. Most lines have it and are in `ended`:
 * a compromise by an earlier holder of the DID, whose claim was released, must not affect keys of the present holder.
 */
export const compromisedWithoutMore = ({ compromisedKeys, ended }: LoggedRevocations) => {
  const named = new Set(ended.map(({ name }) => name));
  return [...compromisedKeys].filter(([kid]) => !named.has(nameOfKey(kid)));
};

export const apiKeysOf = ({ apiKeys }: LoggedRevocations): readonly RevokedApiKey[] =>
  [...apiKeys].map((keyId) => ({ kind: 'api-key', keyId: keyId as ApiKeyId }));

/** Whether the Principal has this key here, in another state than compromised. */
export const isToCompromise = async (
  { store }: Pick<ServiceDeps, 'store'>,
  principal: string,
  kid: string,
): Promise<boolean> => {
  const key = (await store.principals.find(principal))?.keys.find((one) => one.kid === kid);
  return key !== undefined && key.state !== 'compromised';
};

/** The records, without those that a later change of the same subject replaced. `logged`: in the order of the lines. */
export const latestOf = (
  kept: readonly RevokedRecord[],
  logged: readonly RevokedRecord[],
): readonly RevokedRecord[] => withoutOlderPauses(withoutOlderPushes(kept, logged));

/**
 * Keeps one push for each org, that with the highest `as_of`. Of several with that `as_of`, the last log line is kept,
 * because each push is logged before it is stored. But if the copy beside the fence is not in the log, it is later than
 * the log lines, and is kept.
 */
export const withoutOlderPushes = (
  kept: readonly RevokedRecord[],
  logged: readonly RevokedRecord[],
): readonly RevokedRecord[] => {
  const latest = new Map<string, PushedEntitlement>();
  const lines = new Set(logged.map(textOf));
  const note = (record: RevokedRecord, winsTie: boolean) => {
    if (record.kind !== 'entitlement') return;
    const latestMs = latest.get(record.orgId)?.push.asOfMs ?? Number.NEGATIVE_INFINITY;
    const { asOfMs } = record.push;
    if (asOfMs > latestMs || (asOfMs === latestMs && winsTie)) latest.set(record.orgId, record);
  };
  for (const record of logged) note(record, true);
  for (const record of kept) note(record, !lines.has(textOf(record)));
  const all = [...kept, ...logged];
  return all.filter((record) => record.kind !== 'entitlement' || latest.get(record.orgId) === record);
};

/** All members of a push as text in a fixed order; empty for other records. */
const textOf = (record: RevokedRecord): string =>
  record.kind === 'entitlement'
    ? JSON.stringify([record.orgId, Object.entries(record.push).sort(([a], [b]) => (a < b ? -1 : 1))])
    : '';

/**
 * Keeps only the latest change of each paused subject, because a repeated change is dated now. Where dates are equal or
 * missing, a pause is kept rather than a resumption.
 */
export const withoutOlderPauses = (revoked: readonly RevokedRecord[]): readonly RevokedRecord[] => {
  const latest = new Map<string, ChangedPause>();
  for (const record of revoked) {
    if (record.kind !== 'pause') continue;
    const other = latest.get(nameOf(record));
    if (other === undefined || isLater(record, other)) latest.set(nameOf(record), record);
  }
  return revoked.filter((record) => record.kind !== 'pause' || latest.get(nameOf(record)) === record);
};

/** A change without a date is earlier than all that have one. */
const isLater = (one: ChangedPause, other: ChangedPause): boolean => {
  const [here, there] = [one.changedAtMs ?? -1, other.changedAtMs ?? -1];
  return here === there ? one.isPaused : here > there;
};

/** `unknown`: the key is not in this database, and only its kid was kept. */
type End = 'ended' | 'unchanged' | 'unknown';

interface Restoring<Record> {
  /** Whether the record's subject is still to be ended here. Changes nothing. */
  readonly isOpen: (deps: ServiceDeps, record: Record) => Promise<boolean>;
  readonly endAgain: (deps: ServiceDeps, record: Record) => Promise<End>;
}

const restoringOf = ({ kind }: RevokedRecord) => RESTORING[kind] as Restoring<RevokedRecord>;

/**
 * Whether the Principal here has the registration of the record. A record of an earlier holder of the DID, whose claim
 * was released, concerns keys and Agents of that registration only, not those of the present holder.
 */
const isStillRegistered = async (
  { store }: ServiceDeps,
  { principal, sinceMs }: EndedKey | DisabledAgent,
): Promise<boolean> => (await store.principals.find(principal))?.createdAtMs === sinceMs;

/**
 * A key that is not here is open only if the record has the key itself. From the kid alone it cannot be stored again.
 */
const isKeyOpen = async (deps: ServiceDeps, record: EndedKey): Promise<boolean> => {
  if (!(await isStillRegistered(deps, record))) return false;
  const { keys = [] } = (await deps.store.principals.find(record.principal)) ?? {};
  const key = keys.find(({ kid }) => kid === record.kid);
  if (key === undefined) return record.publicKeyMultibase !== null;
  return key.state !== record.state && key.state !== 'compromised';
};

/** Stores the key if the record has it, so that no document makes a key first seen in the lost span active again. */
const endKey = async (deps: ServiceDeps, record: EndedKey): Promise<End> => {
  if (!(await isStillRegistered(deps, record))) return 'unchanged';
  const { principal, kid, state, publicKeyMultibase } = record;
  if (publicKeyMultibase !== null) await deps.store.restores.rememberKey(principal, kid, publicKeyMultibase);
  return moveKey(deps, principal, kid, state);
};

const moveKey = async (deps: ServiceDeps, did: string, kid: string, state: KeyState): Promise<End> => {
  const principal = await deps.store.principals.find(did);
  if (principal === null) return 'unchanged';
  const key = principal.keys.find((one) => one.kid === kid);
  if (key === undefined) return 'unknown';
  if (key.state === state || key.state === 'compromised') return 'unchanged';
  const request = { caller: SYSTEM, principal: principal.did, kid, requestId: REQUEST_ID };
  await (state === 'compromised' ? compromiseKey(deps, request) : retireKey(deps, request));
  return 'ended';
};

/** Those of the kids whose key is still not stored: another copy or a log line may have had the key. */
const listUnknownKeys = async ({ store }: ServiceDeps, kids: ReadonlySet<string>): Promise<string[]> => {
  const unknown: string[] = [];
  for (const kid of kids) if (!(await store.restores.isKnownKey(kid))) unknown.push(kid);
  return unknown;
};

const isLiveApiKey = async ({ store }: ServiceDeps, { keyId }: RevokedApiKey): Promise<boolean> =>
  (await store.apiKeys.findById(keyId))?.revokedAtMs === null;

const revokeApiKey = (deps: ServiceDeps, { keyId }: RevokedApiKey): Promise<End> =>
  deps.store.transaction(async (tx) => {
    if (!(await tx.restores.revokeApiKey(keyId))) return 'unchanged';
    const key = await tx.apiKeys.findById(keyId);
    if (key === null) throw new Error(`${keyId} was revoked and is not there`);
    const event = await auditedKey(tx, 'api_key.revoke', key, REQUEST_ID);
    await tx.audit.insert(auditEvent(deps, SYSTEM, event));
    return 'ended';
  });

const findAgent = ({ store }: Pick<ServiceDeps, 'store'>, { principal, agent }: DisabledAgent) =>
  store.agents.find(principal, agent);

const isAgentEnabled = async (deps: ServiceDeps, record: DisabledAgent): Promise<boolean> => {
  if (!(await isStillRegistered(deps, record))) return false;
  const here = await findAgent(deps, record);
  return here === null || here.disabledAtMs === null;
};

/**
 * An Agent that is not registered here is not open: disabling an unregistered Agent revokes its Grants and registers
 * nothing. The comparison finds its Grants by their ids.
 */
const isAgentOpen = async (deps: ServiceDeps, record: DisabledAgent): Promise<boolean> =>
  (await findAgent(deps, record)) !== null && isAgentEnabled(deps, record);

/** Disables the Agent and revokes its Grants. Registers it first where it was registered in the lost span. */
const endAgent = async (deps: ServiceDeps, record: DisabledAgent): Promise<End> => {
  if (!(await isAgentEnabled(deps, record))) return 'unchanged';
  const { principal, agent } = record;
  if ((await findAgent(deps, record)) === null)
    await deps.store.transaction((tx) => tx.agents.insert(principal, agent));
  await disableAgent(deps, { caller: SYSTEM, principal, agent, requestId: REQUEST_ID });
  return 'ended';
};

/**
 * Whether the push is later than the stored one. Pushes with one `as_of`, which occur when an operator edits a push,
 * have no order: the push that allows less is taken as the later one.
 */
const isPushLater = async ({ store }: ServiceDeps, { orgId, push }: PushedEntitlement): Promise<boolean> => {
  if (!(await store.orgs.exists(orgId))) return false;
  const here = await store.entitlements.find(orgId);
  if (here === null || here.asOfMs < push.asOfMs) return true;
  return here.asOfMs === push.asOfMs && allowsLess(push, here);
};

/**
 * Whether a push blocks what another allows, or narrows the other in its cap or its end and widens it in neither. Caps
 * from different times on count different checks, so none of them is the narrower.
 */
const allowsLess = (push: EntitlementPush, other: EntitlementPush): boolean => {
  if (push.production !== other.production) return push.production === 'blocked';
  const terms = (one: EntitlementPush) =>
    [one.checkCap ?? Infinity, one.productionUntilMs ?? Infinity] as const;
  const [[cap, untilMs], [otherCap, otherUntilMs]] = [terms(push), terms(other)];
  const areComparable = cap === Infinity || otherCap === Infinity || push.capSinceMs === other.capSinceMs;
  const isNoWider = areComparable && cap <= otherCap && untilMs <= otherUntilMs;
  return isNoWider && (cap < otherCap || untilMs < otherUntilMs);
};

const pushAgain = async (deps: ServiceDeps, record: PushedEntitlement): Promise<End> => {
  if (!(await isPushLater(deps, record))) return 'unchanged';
  return (await deps.store.putEntitlement(record.orgId, record.push)) ? 'ended' : 'unchanged';
};

/** Ends a service key again. A key that leaked must not be valid for any date again. */
const endServiceKey = async (
  { store }: ServiceDeps,
  { kid, publicKeyMultibase, ends }: EndedServiceKey,
): Promise<End> => {
  const here = (await store.serviceKeys.list()).find((key) => key.kid === kid);
  const isRetired = ends.includes('retired') && here?.retiredAtMs == null;
  const isCompromised = ends.includes('compromised') && here?.compromisedAtMs == null;
  if (!isRetired && !isCompromised) return 'unchanged';
  await store.transaction(async (tx) => {
    const named = await tx.serviceKeys.remember(kid, publicKeyMultibase);
    if (named !== publicKeyMultibase) throw new Error(`${kid} named another key than it does here`);
    if (isRetired) await tx.serviceKeys.end(kid, 'retired');
    if (isCompromised) await tx.serviceKeys.end(kid, 'compromised');
  });
  return isCompromised ? 'ended' : 'unchanged';
};

/** For kinds of records that are never in the log. */
const isNotLogged = async () => false;

const RESTORING: { readonly [Kind in RevokedKind]: Restoring<RevokedOf<Kind>> } = {
  key: { isOpen: isKeyOpen, endAgain: endKey },
  'api-key': { isOpen: isLiveApiKey, endAgain: revokeApiKey },
  agent: { isOpen: isAgentOpen, endAgain: endAgent },
  entitlement: { isOpen: isPushLater, endAgain: pushAgain },
  pause: {
    isOpen: isToPauseAgain,
    endAgain: async (deps, change) => ((await pauseAgain(deps, change)) ? 'ended' : 'unchanged'),
  },
  'service-key': { isOpen: isNotLogged, endAgain: endServiceKey },
  // revoke-again.ts has revoked these Grants already.
  unlisted: { isOpen: isNotLogged, endAgain: async () => 'unchanged' },
};
