/**
 * Makes a database that was set back the one that may decide again (protocol §10), in steps of which each can be repeated:
 *
 *   claim      the fence's head is replaced: whoever stood on it decides no more
 *   take       what was revoked, disabled, blocked, released or transferred in the lost span is so again, of the Grants of a list
 *              some thousands in each transaction
 *   withhold   Grants whose use in the lost span is unknown are marked, some thousands in each transaction
 *   settle     in one transaction: the claimed head becomes part of the lineage, nothing is stored that is dated before the
 *              end of the quarantine, days that were closed in the lost span get their published checkpoints back, no list
 *              is allocated from any more, lost names are reserved, no domain counts as proven, claims have their time anew,
 *              Grants that were not marked are withheld too, and the signed statement is stored
 *
 * Cut off anywhere before the last step, the database is still behind the fence, and the restore is begun anew. Where there is no
 * fence the first step falls away, and nothing but the operator keeps processes from working before the last.
 */
import { CLAIM_MS } from '../claims/claim.ts';
import type { ServiceDeps } from '../deps.ts';
import { formatHead, HEAD_KEY } from '../fence/head.ts';
import { parseRecords } from '../fence/records.ts';
import type { FenceHead, FenceStore } from '../ports/fence.ts';
import type { RestoreRecord } from '../ports/restores.ts';
import { type EndedAgain, endAgain } from './end-again.ts';
import { type FenceRecord, listFenceRecords } from './fence-records.ts';
import { type HandedOverAgain, handOverAgain, handOverLogged } from './hand-over-again.ts';
import { type LostCheckpoint, listLostCheckpoints } from './lost-checkpoints.ts';
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

/** What the restore had given back. */
export type TakenAgain = { readonly grants: number } & EndedAgain & HandedOverAgain;

/**
 * Lists of one domain that may have been opened in the last second before the fence, and the last one of which it was told.
 * Numbers are not scarce.
 */
const LIST_NUMBER_MARGIN = 10_000;
const SETTLE_DEADLINE_MS = 60_000;

export interface RestoreOptions extends WithholdOptions {
  /**
   * Checkpoints that are dated ahead of the database's clock stay away: the clock that signed them ran ahead. `hereMs`: what another
   * clock shows, that of whoever says so; those that are over by it are refused all the same.
   */
  readonly leaveAhead?: { readonly hereMs: number };
}

/**
 * `fenceStore`: null where there is no fence. Rejects with what stands in the way; then the database is still behind the fence, if
 * there is one.
 */
export const restoreLedger = async (
  deps: ServiceDeps,
  fenceStore: FenceStore | null,
  span: LostSpan,
  logged: LoggedRevocations,
  options: RestoreOptions = {},
): Promise<Restore> => {
  await refuseUnfit(deps, fenceStore, logged);
  await refuseAhead(deps, fenceStore, options.leaveAhead?.hereMs ?? Number.POSITIVE_INFINITY);
  const claimed = fenceStore === null ? null : await claim(deps, fenceStore, span);
  const { lists, checkpoints, revoked, names } = await findFenceRecords(deps, fenceStore);
  const last = (await deps.store.restores.list()).at(-1);
  // What an earlier restore of the same span has done is in its own statement.
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

/** Where one is dated ahead of the database's clock, and not later than `hereMs` as well. */
const refuseAhead = async (
  deps: ServiceDeps,
  fenceStore: FenceStore | null,
  hereMs: number,
): Promise<void> => {
  if (fenceStore === null) return;
  const { ahead } = await listLostCheckpoints(deps, await listFenceRecords(fenceStore, 'checkpoint'));
  const refused = ahead.filter(({ atMs }) => atMs <= hereMs).map(({ day }) => day);
  if (refused.length === 0) return;
  const shown = (ms: number) => new Date(ms).toISOString();
  throw new Error(
    `the checkpoints of ${refused.join(', ')} are dated ahead of the database’s clock, which shows ${shown(deps.clock.nowMs())}` +
      `${Number.isFinite(hereMs) ? `, and are over by the clock of this machine, which shows ${shown(hereMs)}` : ''}. ` +
      'Where the database’s clock is behind, set it right. Where they were signed by a clock that ran ahead, repeat with --leave-ahead: their days are closed again when they are over',
  );
};

/**
 * Before anything is changed: the fence would be claimed, and the restore could not go on. Or it would go on and sign its
 * statement by a key that it has just ended, under which no date counts.
 */
const refuseUnfit = async (
  deps: ServiceDeps,
  fenceStore: FenceStore | null,
  logged: LoggedRevocations,
): Promise<void> => {
  const { lists, checkpoints, revoked } = await findFenceRecords(deps, fenceStore);
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
  await listLostCheckpoints(deps, checkpoints);
};

/** What was kept first, then what only the log tells. */
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
 * Claims the fence with a head of the same instant as the one it replaces, so that the lost span stays the same for a
 * restore that is begun anew. Its number is behind all beats of the database, which may have gone another way than the fence.
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
      // The fence names the claimed number already.
      if (claimed !== null && (await restores.adopt(claimed)) !== claimed.seq)
        throw new Error('a service is at work on this database; stop it, then begin again');
    },
    { deadlineMs: SETTLE_DEADLINE_MS },
  );
