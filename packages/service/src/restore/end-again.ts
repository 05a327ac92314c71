/**
 * Ends again what a restore has begun again, by what was kept beside the fence: keys, Agents, entitlements, pauses,
 * service keys.
 */
import type { DidKey, DidWeb, JsonObject, OrgId } from '@svc/protocol';
import { disableAgent } from '../agents/disable-agent.ts';
import { SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { isToPauseAgain, pauseAgain } from '../pauses/set-pause.ts';
import type { EntitlementPush } from '../ports/entitlements.ts';
import { compromiseKey, retireKey } from '../signing-keys/signing-keys.ts';
import type { FenceRecord } from './fence-records.ts';
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

/** Every step is safe to repeat. Rejects with the first that does not succeed. */
export const endAgain = async (
  deps: ServiceDeps,
  revoked: readonly FenceRecord[],
  logged: LoggedRevocations,
): Promise<EndedAgain> => {
  const counts = { keys: 0, apiKeys: 0, agents: 0, entitlements: 0, pauses: 0 };
  const serviceKeys: string[] = [];
  const unknownKeys = new Set<string>();
  const count = (kid: string, end: KeyEnd) => {
    if (end === 'ended') counts.keys += 1;
    if (end === 'unknown') unknownKeys.add(kid);
  };
  for (const { name, kept } of withoutOlderPauses(revoked)) {
    const [what, of] = splitName(name);
    if (what === 'key') count(of, await endKey(deps, of, kept));
    if (what === 'api-key' && (await deps.store.restores.revokeApiKey(of))) counts.apiKeys += 1;
    if (what === 'agent' && (await endAgent(deps, kept))) counts.agents += 1;
    if (what === 'entitlement' && (await pushAgain(deps, of as OrgId, kept))) counts.entitlements += 1;
    if (what === 'pause' && (await pauseAgain(deps, kept))) counts.pauses += 1;
    if (what === 'service-key' && (await endServiceKey(deps, of, kept))) serviceKeys.push(of);
  }
  for (const [kid, principal] of compromisedWithoutMore(logged))
    count(kid, await moveKey(deps, principal, kid, 'compromised'));
  for (const keyId of logged.apiKeys) if (await deps.store.restores.revokeApiKey(keyId)) counts.apiKeys += 1;
  const stillUnknown = await listUnknownKeys(deps, unknownKeys);
  return { ...counts, serviceKeys, unknownKeys: stillUnknown };
};

/**
 * Kids with the Principal of each, of lines that say no more. Most say of which registration the key was, and stand in `ended`:
 * whoever claimed a DID and was released ended none of the keys that its owner has.
 */
export const compromisedWithoutMore = ({ compromisedKeys, ended }: LoggedRevocations) => {
  const named = new Set(ended.map(({ name }) => name));
  return [...compromisedKeys].filter(([kid]) => !named.has(`key:${kid}`));
};

/** Whether a line of the log says of something that it has ended, and it has not here. Changes nothing. */
export const isToEndAgain = async (deps: ServiceDeps, { name, kept }: FenceRecord): Promise<boolean> => {
  const [what, of] = splitName(name);
  if (what === 'key') return isKeyToEnd(deps, of, kept);
  // One that nobody had noted is not here either after it was ended with its Grants, which are looked at by their ids.
  if (what === 'agent') return (await findAgent(deps, kept)) !== null && (await isAgentToEnd(deps, kept));
  if (what === 'entitlement') return isPushLater(deps, of as OrgId, kept);
  return what === 'pause' && isToPauseAgain(deps, kept);
};

/** A Principal's key that is known here, and not as compromised. */
export const isToCompromise = async (
  { store }: Pick<ServiceDeps, 'store'>,
  principal: string,
  kid: string,
): Promise<boolean> => {
  const key = (await store.principals.find(principal))?.keys.find((one) => one.kid === kid);
  return key !== undefined && key.state !== 'compromised';
};

/** What it is, and its name. */
const splitName = (name: string): readonly [string, string] => {
  const colon = name.indexOf(':');
  return [name.slice(0, colon), name.slice(colon + 1)];
};

/**
 * What is paused or resumed again is dated now, so only the latest change of each subject may be. Where dates
 * are equal or missing, a pause wins over a resumption.
 */
export const withoutOlderPauses = (revoked: readonly FenceRecord[]): readonly FenceRecord[] => {
  const latest = new Map<string, FenceRecord>();
  for (const one of revoked) {
    const other = latest.get(one.name);
    if (other === undefined || isLater(one.kept, other.kept)) latest.set(one.name, one);
  }
  return revoked.filter((one) => !one.name.startsWith('pause:') || latest.get(one.name) === one);
};

const isLater = (one: JsonObject, other: JsonObject): boolean => {
  const [here, there] = [changedAt(one), changedAt(other)];
  return here === there ? one.is_paused === true : here > there;
};

/** Without a date: before all that have one. */
const changedAt = ({ changed_at_ms: atMs }: JsonObject): number => (typeof atMs === 'number' ? atMs : -1);

/**
 * Whether the Principal is registered here as it was then. Whoever claimed a DID and was released ended keys and Agents of that
 * registration alone, and not those of the one to whom the DID belongs.
 */
const isStillRegistered = async ({ store }: ServiceDeps, { principal, since_ms }: JsonObject) => {
  const here = typeof principal === 'string' ? await store.principals.find(principal) : null;
  return here !== null && here.createdAtMs === since_ms;
};

type KeyEnd = 'ended' | 'unchanged' | 'unknown';

/** With what it is, a key that was first seen in the lost span is known again, so that no document brings it back as active. */
const endKey = async (deps: ServiceDeps, kid: string, kept: JsonObject): Promise<KeyEnd> => {
  if (!(await isStillRegistered(deps, kept))) return 'unchanged';
  const { principal, state, public_key_multibase: publicKey } = kept;
  const did = principal as DidWeb;
  if (typeof publicKey === 'string') await deps.store.restores.rememberKey(did, kid, publicKey);
  return moveKey(deps, did, kid, state);
};

const moveKey = async (deps: ServiceDeps, did: string, kid: string, state: unknown): Promise<KeyEnd> => {
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

/** A key that is not here, and of which the copy has no more than its name, cannot be known again. */
const isKeyToEnd = async (deps: ServiceDeps, kid: string, kept: JsonObject): Promise<boolean> => {
  if (!(await isStillRegistered(deps, kept))) return false;
  const { keys = [] } = (await deps.store.principals.find(String(kept.principal))) ?? {};
  const key = keys.find((one) => one.kid === kid);
  if (key === undefined) return typeof kept.public_key_multibase === 'string';
  return key.state !== kept.state && key.state !== 'compromised';
};

const findAgent = ({ store }: Pick<ServiceDeps, 'store'>, { principal, agent }: JsonObject) =>
  store.agents.find(principal as DidWeb, agent as DidKey);

const isAgentToEnd = async (deps: ServiceDeps, kept: JsonObject): Promise<boolean> => {
  if (!(await isStillRegistered(deps, kept))) return false;
  const here = await findAgent(deps, kept);
  return here === null || here.disabledAtMs === null;
};

/** With its Grants. One that was also registered in the lost span is registered, so that it is known to be disabled. */
const endAgent = async (deps: ServiceDeps, kept: JsonObject): Promise<boolean> => {
  if (!(await isAgentToEnd(deps, kept))) return false;
  const [principal, agent] = [kept.principal as DidWeb, kept.agent as DidKey];
  if ((await findAgent(deps, kept)) === null)
    await deps.store.transaction((tx) => tx.agents.insert(principal, agent));
  await disableAgent(deps, { caller: SYSTEM, principal, agent, requestId: REQUEST_ID });
  return true;
};

const isPushLater = async ({ store }: ServiceDeps, orgId: OrgId, kept: JsonObject): Promise<boolean> => {
  if (!(await store.orgs.exists(orgId))) return false;
  const here = await store.entitlements.find(orgId);
  return here === null || here.asOfMs < Number(kept.as_of_ms);
};

/** The latest push of the console, whether it gave or took. */
const pushAgain = async (deps: ServiceDeps, orgId: OrgId, kept: JsonObject): Promise<boolean> => {
  if (!(await isPushLater(deps, orgId, kept))) return false;
  const push = {
    production: kept.production,
    productionUntilMs: kept.production_until_ms,
    checkCap: kept.check_cap,
    capSinceMs: kept.cap_since_ms,
    reason: kept.reason,
    asOfMs: kept.as_of_ms,
  } as unknown as EntitlementPush;
  return deps.store.putEntitlement(orgId, push);
};

/** A key of the service counts for no date again once it was found to have leaked. */
const endServiceKey = async ({ store }: ServiceDeps, kid: string, kept: JsonObject): Promise<boolean> => {
  const here = (await store.serviceKeys.list()).find((key) => key.kid === kid);
  const ends = Array.isArray(kept.ends) ? kept.ends : [];
  const isRetired = ends.includes('retired') && here?.retiredAtMs == null;
  const isCompromised = ends.includes('compromised') && here?.compromisedAtMs == null;
  if (!isRetired && !isCompromised) return false;
  await store.transaction(async (tx) => {
    const named = await tx.serviceKeys.remember(kid, String(kept.public_key));
    if (named !== kept.public_key) throw new Error(`${kid} named another key than it does here`);
    if (isRetired) await tx.serviceKeys.end(kid, 'retired');
    if (isCompromised) await tx.serviceKeys.end(kid, 'compromised');
  });
  return isCompromised;
};
