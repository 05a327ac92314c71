/**
 * Ends again what a restore has begun again, by what was kept beside the fence: keys, Agents, entitlements, pauses,
 * service keys.
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
import type { KeyState } from '../ports/principals.ts';
import { compromiseKey, retireKey } from '../signing-keys/signing-keys.ts';
import type { LoggedRevocations } from './read-log.ts';

/** For the audit log. */
const REQUEST_ID = 'svc-admin-restore';

/** What was in force again until now. */
export interface EndedAgain {
  readonly keys: number;
  readonly apiKeys: number;
  readonly agents: number;
  readonly entitlements: number;
  /** Paused again, or resumed again. */
  readonly pauses: number;
  /** Kids. */
  readonly serviceKeys: readonly string[];
  /**
   * Kids of Principals' keys that were retired or compromised, and are not known here: older copies and lines of the log do not
   * have the keys themselves. They are active when they are seen.
   */
  readonly unknownKeys: readonly string[];
}

/** `kept`: beside the fence. Every step is safe to repeat. Rejects with the first that does not succeed. */
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

/** Whether something that a line of the log ended has not ended here. Changes nothing. */
export const isOpen = (deps: ServiceDeps, record: RevokedRecord): Promise<boolean> =>
  restoringOf(record).isOpen(deps, record);

/**
 * Kids with the Principal of each, of lines that say no more. Most say of which registration the key was, and stand in `ended`:
 * whoever claimed a DID and was released ended none of the keys that its owner has.
 */
export const compromisedWithoutMore = ({ compromisedKeys, ended }: LoggedRevocations) => {
  const named = new Set(ended.map(({ name }) => name));
  return [...compromisedKeys].filter(([kid]) => !named.has(nameOfKey(kid)));
};

export const apiKeysOf = ({ apiKeys }: LoggedRevocations): readonly RevokedApiKey[] =>
  [...apiKeys].map((keyId) => ({ kind: 'api-key', keyId: keyId as ApiKeyId }));

/** A Principal's key that is known here, and not as compromised. */
export const isToCompromise = async (
  { store }: Pick<ServiceDeps, 'store'>,
  principal: string,
  kid: string,
): Promise<boolean> => {
  const key = (await store.principals.find(principal))?.keys.find((one) => one.kid === kid);
  return key !== undefined && key.state !== 'compromised';
};

/** Without what a later change of the same subject replaced. `logged`: in the order of the lines. */
export const latestOf = (
  kept: readonly RevokedRecord[],
  logged: readonly RevokedRecord[],
): readonly RevokedRecord[] => withoutOlderPauses(withoutOlderPushes(kept, logged));

/**
 * One push of each org, of the highest `as_of`. Of several with that one the last line of the log, which has one for each
 * push before it is stored, unless the copy beside the fence is none of the log's: then it came after them.
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

/** All of a push, in one order; empty for what is none. */
const textOf = (record: RevokedRecord): string =>
  record.kind === 'entitlement'
    ? JSON.stringify([record.orgId, Object.entries(record.push).sort(([a], [b]) => (a < b ? -1 : 1))])
    : '';

/**
 * What is paused or resumed again is dated now, so only the latest change of each subject may be. Where dates
 * are equal or missing, a pause wins over a resumption.
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

/** Without a date: before all that have one. */
const isLater = (one: ChangedPause, other: ChangedPause): boolean => {
  const [here, there] = [one.changedAtMs ?? -1, other.changedAtMs ?? -1];
  return here === there ? one.isPaused : here > there;
};

/** `unknown`: of a key that is not here, and of which no more than its name was kept. */
type End = 'ended' | 'unchanged' | 'unknown';

interface Restoring<Record> {
  /** Whether it is to be ended here. Changes nothing. */
  readonly isOpen: (deps: ServiceDeps, record: Record) => Promise<boolean>;
  readonly endAgain: (deps: ServiceDeps, record: Record) => Promise<End>;
}

const restoringOf = ({ kind }: RevokedRecord) => RESTORING[kind] as Restoring<RevokedRecord>;

/**
 * Whether the Principal is registered here as it was then. Whoever claimed a DID and was released ended keys and Agents of that
 * registration alone, and not those of the one to whom the DID belongs.
 */
const isStillRegistered = async (
  { store }: ServiceDeps,
  { principal, sinceMs }: EndedKey | DisabledAgent,
): Promise<boolean> => (await store.principals.find(principal))?.createdAtMs === sinceMs;

/** A key that is not here, and of which the copy has no more than its name, cannot be known again. */
const isKeyOpen = async (deps: ServiceDeps, record: EndedKey): Promise<boolean> => {
  if (!(await isStillRegistered(deps, record))) return false;
  const { keys = [] } = (await deps.store.principals.find(record.principal)) ?? {};
  const key = keys.find(({ kid }) => kid === record.kid);
  if (key === undefined) return record.publicKeyMultibase !== null;
  return key.state !== record.state && key.state !== 'compromised';
};

/** With what it is, a key that was first seen in the lost span is known again, so that no document brings it back as active. */
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

/** A copy may lack what another, or a line of the log, has. */
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

/** One that nobody had noted is not here either after it was ended with its Grants, which are looked at by their ids. */
const isAgentOpen = async (deps: ServiceDeps, record: DisabledAgent): Promise<boolean> =>
  (await findAgent(deps, record)) !== null && isAgentEnabled(deps, record);

/** With its Grants. One that was also registered in the lost span is registered, so that it is known to be disabled. */
const endAgent = async (deps: ServiceDeps, record: DisabledAgent): Promise<End> => {
  if (!(await isAgentEnabled(deps, record))) return 'unchanged';
  const { principal, agent } = record;
  if ((await findAgent(deps, record)) === null)
    await deps.store.transaction((tx) => tx.agents.insert(principal, agent));
  await disableAgent(deps, { caller: SYSTEM, principal, agent, requestId: REQUEST_ID });
  return 'ended';
};

/** Pushes of one `as_of`, as an operator makes who edits what was pushed, do not say which was later: one that blocks is taken for it. */
const isPushLater = async ({ store }: ServiceDeps, { orgId, push }: PushedEntitlement): Promise<boolean> => {
  if (!(await store.orgs.exists(orgId))) return false;
  const here = await store.entitlements.find(orgId);
  if (here === null || here.asOfMs < push.asOfMs) return true;
  return here.asOfMs === push.asOfMs && push.production === 'blocked' && here.production !== 'blocked';
};

const pushAgain = async (deps: ServiceDeps, record: PushedEntitlement): Promise<End> => {
  if (!(await isPushLater(deps, record))) return 'unchanged';
  return (await deps.store.putEntitlement(record.orgId, record.push)) ? 'ended' : 'unchanged';
};

/** A key of the service counts for no date again once it was found to have leaked. */
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

/** Records of this kind stand in no line of the log. */
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
  // Its Grants are revoked again before (revoke-again.ts).
  unlisted: { isOpen: isNotLogged, endAgain: async () => 'unchanged' },
};
