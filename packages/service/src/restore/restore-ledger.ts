/**
 * Makes a database that was set back the one that may decide again (protocol §10). Each of these steps can be repeated:
 *
 * - claim: replaces the fence's head. Processes that were confirmed by the former head stop deciding.
 * - take: repeats what was revoked, disabled, blocked, released or transferred in the lost span. Grants of a list are
 *   revoked in transactions of some thousands.
 * - withhold: marks Grants whose use in the lost span is unknown, in transactions of some thousands.
 * - settle: makes the other changes in one transaction. The claimed head becomes part of the lineage. Decisions dated
 *   before the end of the quarantine are refused. Days that were closed in the lost span get their published
 *   checkpoints again. Existing lists are closed to allocation. Lost names are reserved. No domain counts as proven.
 *   Claims get their full time again. Grants that were not marked are withheld too. The signed statement is stored.
 *
 * If the restore is interrupted before the last step, the database is still behind the fence, and the restore is begun
 * again. Without a fence there is no first step, and only the operator keeps processes from working before the last
 * step.
 */
import { CLAIM_MS } from '../claims/claim.ts';
import type { ServiceDeps } from '../deps.ts';
import { formatHead, HEAD_KEY } from '../fence/head.ts';
import { parseRecords } from '../fence/records.ts';
import type { FenceHead, FenceStore } from '../ports/fence.ts';
import type { RestoreRecord } from '../ports/restores.ts';
import { type EndedAgain, endAgain } from './end-again.ts';
import type { FenceRecord } from './fence-records.ts';
import { type HandedOverAgain, handOverAgain, handOverLogged } from './hand-over-again.ts';
import { type LostCheckpoint, type LostCheckpoints, listLostCheckpoints } from './lost-checkpoints.ts';
import { type FenceRecords, findFenceRecords, type LostSpan, listLostNames } from './plan-restore.ts';
import { PUT_KEYS_BACK } from './put-keys-back.ts';
import type { LoggedRevocations } from './read-log.ts';
import { readList, revokeAgain } from './revoke-again.ts';
import { signRestoreStatement } from './statement.ts';
import {
  countWithheld,
  type WithheldGrants,
  type WithholdOptions,
  withholdGrants,
} from './withhold-grants.ts';

export interface Restore {
  readonly restore: Omit<RestoreRecord, 'restoredAtMs'>;
  readonly takenAgain: TakenAgain;
  readonly reservedNames: readonly string[];
  readonly withheld: WithheldGrants;
}

/** Numbers of what the restored database had in force again, and the restore has taken away again. */
export type TakenAgain = { readonly grants: number } & EndedAgain & HandedOverAgain;

/**
 * Distance of new list numbers from the highest known one. Lists that were opened in the last second before the loss
 * may not have been copied beside the fence. Numbers are not scarce, so the margin is large.
 */
const LIST_NUMBER_MARGIN = 10_000;
const SETTLE_DEADLINE_MS = 60_000;

export interface RestoreOptions extends WithholdOptions {
  /**
   * Leaves out checkpoints that are dated ahead of the database's clock, because the clock that signed them ran ahead.
   * `hereMs`: the time of another clock, that of the operator's machine. Checkpoints that are not ahead of it are still
   * refused.
   */
  readonly leaveAhead?: { readonly hereMs: number };
}

/**
 * `fenceStore`: null where there is no fence. Rejects with the reason why the restore cannot be done; then the database
 * is still behind the fence, if there is one.
 */
export const restoreLedger = async (
  deps: ServiceDeps,
  fenceStore: FenceStore | null,
  span: LostSpan,
  logged: LoggedRevocations,
  options: RestoreOptions = {},
): Promise<Restore> => {
  await refuseUnfit(deps, await findFenceRecords(deps, fenceStore), logged, options);
  const claimed = fenceStore === null ? null : await claim(deps, fenceStore, span);
  const { lists, checkpoints, revoked, names } = await findFenceRecords(deps, fenceStore);
  const last = (await deps.store.restores.list()).at(-1);
  // Revocations by an earlier restore of the same span are in its own statement.
  const sinceMs = Math.max(span.lostFromMs, last?.restoredAtMs ?? 0);
  const takenAgain = await takeAgain(deps, { lists, revoked, names }, logged, { ...span, sinceMs }, options);
  const lostNames = await listLostNames(deps, names);
  const { lost } = await listLostCheckpoints(deps, checkpoints);
  const { lostFromMs, lostUntilMs, quarantinedUntilMs } = span;
  const restore = {
    ...{ lostFromMs, lostUntilMs, quarantinedUntilMs },
    epoch: Math.max(span.head.epoch, last?.epoch ?? 0) + 1,
    reinstatedDays: lost.map(({ day }) => day),
    leastListNumber: (await highestListNumber(deps, lists)) + LIST_NUMBER_MARGIN,
  };
  await withholdGrants(deps, restore.epoch, options);
  const previous = last?.statement ?? null;
  const statement = await signRestoreStatement(deps, {
    ...restore,
    revokedAgain: takenAgain.grants,
    previous,
  });
  await settle(deps, { claimed, restore: { ...restore, statement }, lost, lostNames });
  const withheld = await countWithheld(deps, options);
  return { restore: { ...restore, statement }, takenAgain, reservedNames: lostNames, withheld };
};

/**
 * Throws, before anything is changed, where the restore would fail after it has claimed the fence. Also where it would
 * sign its statement with a key that it has just ended, under which no date is valid, and where it would leave out a
 * checkpoint that was published.
 */
export const refuseUnfit = async (
  deps: ServiceDeps,
  { lists, checkpoints, revoked }: Pick<FenceRecords, 'lists' | 'checkpoints' | 'revoked'>,
  logged: LoggedRevocations,
  { leaveAhead }: Pick<RestoreOptions, 'leaveAhead'> = {},
): Promise<void> => {
  const ended = [...parseRecords(logged.ended), ...revoked].filter((record) => record.kind === 'service-key');
  const { kid } = deps.identity.statusKeys.signer;
  if (ended.some((record) => record.kid === kid))
    throw new Error(`${kid} was ended in the lost span. ${PUT_KEYS_BACK}`);
  const known = new Map(
    (await deps.store.serviceKeys.list()).map((key) => [key.kid, key.publicKeyMultibase]),
  );
  const other = ended.find(
    (record) => (known.get(record.kid) ?? record.publicKeyMultibase) !== record.publicKeyMultibase,
  );
  if (other !== undefined)
    throw new Error(`${other.kid} was another key when it was ended in the lost span. ${PUT_KEYS_BACK}`);
  for (const list of lists) readList(deps, list);
  const { ahead } = await listLostCheckpoints(deps, checkpoints);
  refuseAhead(deps, ahead, leaveAhead?.hereMs ?? Number.POSITIVE_INFINITY);
};

/** Throws where a checkpoint is dated ahead of the database's clock, and not later than `hereMs`. */
const refuseAhead = (deps: ServiceDeps, ahead: LostCheckpoints['ahead'], hereMs: number): void => {
  const refused = ahead.filter(({ atMs }) => atMs <= hereMs).map(({ day }) => day);
  if (refused.length === 0) return;
  const shown = (ms: number) => new Date(ms).toISOString();
  throw new Error(
    `the checkpoints of ${refused.join(', ')} are dated ahead of the database’s clock, which shows ${shown(deps.clock.nowMs())}` +
      `${Number.isFinite(hereMs) ? `, and are over by the clock of this machine, which shows ${shown(hereMs)}` : ''}. ` +
      'Where the database’s clock is behind, set it right. Where they were signed by a clock that ran ahead, repeat with --leave-ahead: their days are closed again when they are over',
  );
};

/** Applies the kept records first, then those that only the log has. */
const takeAgain = async (
  deps: ServiceDeps,
  { lists, revoked, names }: Pick<FenceRecords, 'lists' | 'revoked' | 'names'>,
  logged: LoggedRevocations,
  span: LostSpan & { readonly sinceMs: number },
  options: WithholdOptions,
): Promise<TakenAgain> => {
  const grants = await revokeAgain(deps, { lists, revoked }, logged, span.sinceMs, options);
  const ended = await endAgain(deps, revoked, logged);
  const byKept = await handOverAgain(deps, span.followsNames ? names : []);
  const byLog = await handOverLogged(deps, logged.handedOver, span.lostFromMs);
  const released = byKept.released + byLog.released;
  return { grants, ...ended, released, transferred: byKept.transferred + byLog.transferred };
};

/**
 * Claims the fence with a head of the same time as the one it replaces, so that a restore that is begun again has the
 * same lost span. Its number is higher than all beats of the database, whose lineage may have diverged from the fence.
 */
const claim = async (
  { store, identity, random }: ServiceDeps,
  fenceStore: FenceStore,
  { head, tag }: LostSpan,
): Promise<FenceHead> => {
  const nonce = Buffer.from(random.bytes(16)).toString('hex');
  const { seq } = await store.restores.findLast();
  const claimed = { ...head, seq: Math.max(seq, head.seq) + 1, nonce };
  if (await fenceStore.put(HEAD_KEY, formatHead(identity.did, claimed), tag)) return claimed;
  throw new Error('the fence moved: a service still works on the former database; stop it, then begin again');
};

const highestListNumber = async ({ store }: ServiceDeps, lists: readonly FenceRecord[]): Promise<number> =>
  lists.reduce(
    (highest, { kept }) => Math.max(highest, Number(kept.number)),
    await store.restores.highestListNumber(),
  );

interface Settlement {
  /** Null: there is no fence. */
  readonly claimed: FenceHead | null;
  readonly restore: Restore['restore'];
  readonly lost: readonly LostCheckpoint[];
  readonly lostNames: readonly string[];
}

const settle = ({ store }: ServiceDeps, { claimed, restore, lost, lostNames }: Settlement): Promise<void> =>
  store.transaction(
    async ({ restores, withheldGrants }) => {
      await restores.sealUntil(restore.quarantinedUntilMs);
      for (const checkpoint of lost) await restores.reinstate(checkpoint);
      await restores.insert(restore);
      await restores.closeLists();
      await restores.reserveNames(lostNames, restore.epoch);
      await restores.forgetDomains();
      await restores.extendClaims(restore.quarantinedUntilMs + CLAIM_MS);
      await withheldGrants.withholdRest(restore.epoch);
      // The fence has the claimed number already.
      if (claimed !== null && (await restores.adopt(claimed)) !== claimed.seq)
        throw new Error('a service is at work on this database; stop it, then begin again');
    },
    { deadlineMs: SETTLE_DEADLINE_MS },
  );
