/**
 * The log held against a database that lacks nothing of what the fence names, or has none: what the log says was taken away
 * must be so here. Where both were set back together nothing else shows it.
 */
import { isReleasable } from '../claims/release.ts';
import type { ServiceDeps } from '../deps.ts';
import { nameOf, nameOfKey, parseRecord, parseRecords } from '../fence/records.ts';
import {
  apiKeysOf,
  compromisedWithoutMore,
  type EndedAgain,
  endAgain,
  isOpen,
  isToCompromise,
  latestOf,
} from './end-again.ts';
import type { FenceRecord } from './fence-records.ts';
import type { LoggedHandOver, LoggedRevocations } from './read-log.ts';
import { revokeAgain, standingOf } from './revoke-again.ts';

export interface LogDifference {
  /** What is in force here, by name: `takeLogged` ends it. */
  readonly open: readonly string[];
  /** DIDs that are still with whom they were taken from. What came later may be in no log, so a person decides. */
  readonly handOvers: readonly LoggedHandOver[];
  /** Grants that are not here: allocated in a span that was lost, or gone with the DID of their Principal. */
  readonly unknownGrants: number;
}

/** `onProgress` is told now and then how many were looked at. Changes nothing. */
export const compareLog = async (
  deps: ServiceDeps,
  logged: LoggedRevocations,
  onProgress: (looked: number) => void = () => {},
): Promise<LogDifference> => {
  const open: string[] = [];
  let [looked, unknownGrants] = [0, 0];
  const look = (name: string, isInForce: boolean) => {
    if (isInForce) open.push(name);
    onProgress(++looked);
  };
  for (const [id, principal] of logged.grants) {
    const standing = await standingOf(deps, principal, id);
    if (standing === 'unknown') unknownGrants += 1;
    look(`grant:${id}`, standing === 'in force');
  }
  for (const [kid, principal] of compromisedWithoutMore(logged))
    look(nameOfKey(kid), await isToCompromise(deps, principal, kid));
  for (const record of [...apiKeysOf(logged), ...latestOf([], parseRecords(logged.ended))])
    look(nameOf(record), await isOpen(deps, record));
  return { open: [...new Set(open)], handOvers: await listOpenHandOvers(deps, logged), unknownGrants };
};

/** Does what `compareLog` finds open. Safe to repeat. */
export const takeLogged = async (
  deps: ServiceDeps,
  logged: LoggedRevocations,
): Promise<{ readonly grants: number } & EndedAgain> => {
  const sinceMs = await deps.store.now();
  const grants = await revokeAgain(deps, { lists: [], revoked: [] }, logged, sinceMs);
  const ended: FenceRecord[] = [];
  for (const one of logged.ended) {
    const record = parseRecord(one.name, one.kept);
    if (record !== null && (record.kind !== 'agent' || (await isOpen(deps, record)))) ended.push(one);
  }
  return { grants, ...(await endAgain(deps, [], { ...logged, ended })) };
};

/** Hand-overs in the log whose DID is still with its former holder here; the last line about each DID counts. */
const listOpenHandOvers = async (
  deps: ServiceDeps,
  { handedOver }: LoggedRevocations,
): Promise<readonly LoggedHandOver[]> => {
  const last = new Map(handedOver.map((one) => [`${one.kind} ${one.did}`, one]));
  const open: LoggedHandOver[] = [];
  for (const one of last.values()) if (await isStillWithFormer(deps, one)) open.push(one);
  return open;
};

const isStillWithFormer = async (
  { store }: ServiceDeps,
  { did, kind, sinceMs, fromOrg, toOrg }: LoggedHandOver,
): Promise<boolean> => {
  const here = await (kind === 'principal' ? store.principals : store.relyingParties).find(did);
  if (here === null || here.createdAtMs !== sinceMs || here.orgId !== fromOrg) return false;
  return toOrg === 'released' ? isReleasable(here) || here.orgId !== null : here.orgId !== toOrg;
};
