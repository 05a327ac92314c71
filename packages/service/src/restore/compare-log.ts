/**
 * Compares the log with a database that has what the fence names, or has no fence: authority that the log says was
 * taken away must not be in force in the database. Where database and fence were set back together, only the log shows
 * it.
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
  /** Names of what is still in force in the database. `takeLogged` ends it. */
  readonly open: readonly string[];
  /** Hand-overs whose DID still has its former holder. Later changes may be in no log, so an operator decides. */
  readonly handOvers: readonly LoggedHandOver[];
  /** Number of Grants that are not in the database: allocated in a lost span, or deleted with their Principal's DID. */
  readonly unknownGrants: number;
}

/** Compares, and changes nothing. Calls `onProgress` after each comparison with their number so far. */
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

/** Ends what `compareLog` finds open. Safe to repeat. */
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

/** Hand-overs in the log whose DID still has its former holder. Only the last line about each DID is used. */
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
