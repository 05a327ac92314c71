/**
 * Plans a restore (protocol §10), and changes nothing. The lost span follows from the fence's head, or from the
 * operator who restored the database. The records to apply are those kept beside the fence.
 */
import { formatTimestamp, PROOF_WINDOW_MAX_SECONDS, TRUST_CONFIG } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { HEAD_KEY, parseOwnHead, serviceOfHead } from '../fence/head.ts';
import { parseRecords, type RevokedRecord } from '../fence/records.ts';
import type { FenceHead, FenceStore, NamedLoss } from '../ports/fence.ts';
import { managedRelyingPartyDid, SANDBOX_SLUG } from '../principals/domain.ts';
import { type FenceRecord, listFenceRecords } from './fence-records.ts';

/** Highest setting of how long a process decides on one head (`SVC_FENCE_MAX_AGE_MS`). */
const LONGEST_ON_ONE_HEAD_MS = 10_000;

/** Longest life of a Proof: the widest window, the skew on both sides, and 3 s for a commit under way. */
export const PROOF_LIFE_MS = (PROOF_WINDOW_MAX_SECONDS + 2 * TRUST_CONFIG.clockSkewSeconds + 3) * 1_000;

export interface LostSpan {
  /** The head from which the restore starts: the fence's, or one made now where an operator names what is lost. */
  readonly head: FenceHead;
  /** Tag of the head when it was read, for compare-and-set; null: there is no head. */
  readonly tag: string | null;
  /** The service's former DID that the head names; null where it names the present one. */
  readonly formerDid: string | null;
  readonly lostFromMs: number;
  readonly lostUntilMs: number;
  /** When no Proof that was spent in the lost span is fresh any more. */
  readonly quarantinedUntilMs: number;
  /** Whether the names copied beside the fence are later than those in the database. */
  readonly followsNames: boolean;
}

type Deps = Pick<ServiceDeps, 'store' | 'identity'>;

interface FoundHead extends Pick<LostSpan, 'head' | 'formerDid'> {
  readonly tag: string;
}

const NO_HEAD =
  'there is no fence where SVC_FENCE says: nothing tells what was lost. Where the database was restored, say since when: --lost-from';
const OLD_HEAD =
  'the fence is older than the database remembers, so it was set back itself and does not tell what was lost. ' +
  'Where the database was restored, say since when: --lost-from. Where it is the latest one: svc-admin fence reset';

/**
 * Null: the database has the fence's head, so by the fence nothing is lost. Rejects with the reason why it cannot tell.
 */
export const findLostSpan = async (deps: Deps, fenceStore: FenceStore): Promise<LostSpan | null> => {
  const found = await findHead(deps, fenceStore);
  if (found === null) throw new Error(NO_HEAD);
  const age = await ageOf(deps, found.head);
  if (age === 'known') return null;
  if (age === 'older') throw new Error(OLD_HEAD);
  const { head } = found;
  return spanOf(found, {
    lostFromMs: await earliestLoss(deps, head),
    followsNames: head.named?.followsNames ?? true,
  });
};

/**
 * The lost span where the fence does not show that the database was set back, because the fence was lost or set back
 * too. `fromMs` is the time of the backup, as the operator names it; everything since may be lost. `fenceStore`: null
 * where there is no fence.
 */
export const nameLostSpan = async (
  deps: Deps,
  fenceStore: FenceStore | null,
  fromMs: number,
): Promise<LostSpan> => {
  const { restores } = deps.store;
  const nowMs = Math.floor(await deps.store.now());
  if (fromMs > nowMs)
    throw new Error(`--lost-from is later than the database’s clock, which shows ${formatTimestamp(nowMs)}`);
  const found = fenceStore === null ? null : await findHead(deps, fenceStore);
  const isLater = found !== null && (await ageOf(deps, found.head)) === 'later';
  const told = isLater ? await earliestLoss(deps, found.head) : await restores.knownUntilMs();
  const followsNames = isLater && (found.head.named?.followsNames ?? true);
  const named = { lostFromMs: Math.min(fromMs, told), followsNames };
  const { epoch, seq } = await restores.findLast();
  const head = {
    ...{ epoch: Math.max(epoch, found?.head.epoch ?? 0), seq: Math.max(seq, found?.head.seq ?? 0) },
    ...{ nonce: '', atMs: nowMs, named },
  };
  return spanOf({ head, tag: found?.tag ?? null, formerDid: found?.formerDid ?? null }, named);
};

const findHead = async ({ identity }: Deps, fenceStore: FenceStore): Promise<FoundHead | null> => {
  const found = await fenceStore.find(HEAD_KEY);
  if (found === null) return null;
  const head = parseOwnHead(identity, found.text);
  if ('problem' in head) throw new Error(head.problem);
  const of = serviceOfHead(found.text);
  return { head, tag: found.tag, formerDid: of === identity.did ? null : of };
};

/** `older`: the head is older than all beats in the database. */
const ageOf = async ({ store }: Deps, head: FenceHead): Promise<'known' | 'later' | 'older'> => {
  if (await store.restores.isKnownHead(head)) return 'known';
  return head.seq < (await store.restores.findLast()).firstSeq ? 'older' : 'later';
};

/** The earliest time from which records may be lost, by a head that the database lacks. */
const earliestLoss = async ({ store }: Deps, { atMs, named }: FenceHead): Promise<number> =>
  Math.min(await store.restores.knownUntilMs(), atMs, named?.lostFromMs ?? atMs);

const spanOf = (
  found: Pick<LostSpan, 'head' | 'tag' | 'formerDid'>,
  { lostFromMs, followsNames }: NamedLoss,
): LostSpan => {
  const lostUntilMs = found.head.atMs + LONGEST_ON_ONE_HEAD_MS;
  const quarantinedUntilMs = lostUntilMs + PROOF_LIFE_MS;
  return { ...found, lostFromMs, lostUntilMs, quarantinedUntilMs, followsNames };
};

/** All objects beside the fence, by kind. */
export interface FenceRecords {
  /** Without lists of which only the name was kept: their rows were deleted before they were copied. */
  readonly lists: readonly FenceRecord[];
  readonly checkpoints: readonly FenceRecord[];
  readonly revoked: readonly RevokedRecord[];
  readonly names: readonly FenceRecord[];
  /** Names that were registered in the lost span and are not in this database. */
  readonly lostNames: readonly string[];
}

const NO_RECORDS: FenceRecords = { lists: [], checkpoints: [], revoked: [], names: [], lostNames: [] };

/** Reads all records beside the fence. Without a fence there are none. */
export const findFenceRecords = async (
  { store, identity }: Deps,
  fenceStore: FenceStore | null,
): Promise<FenceRecords> => {
  if (fenceStore === null) return NO_RECORDS;
  const lists = (await listFenceRecords(fenceStore, 'status-list')).filter(
    ({ kept }) => Object.keys(kept).length > 0,
  );
  const checkpoints = await listFenceRecords(fenceStore, 'checkpoint');
  const revoked = parseRecords(await listFenceRecords(fenceStore, 'revoked'));
  const names = await listFenceRecords(fenceStore, 'name');
  return { lists, checkpoints, revoked, names, lostNames: await listLostNames({ store, identity }, names) };
};

/** Names that had a holder when they were kept and are not in this database. */
export const listLostNames = async (
  { store, identity }: Deps,
  names: readonly FenceRecord[],
): Promise<readonly string[]> => {
  const held = names.filter(({ kept }) => kept.principal !== null || kept.relying_party !== null);
  // The service itself creates these again.
  const own = new Set<string>([identity.sandboxPrincipal, managedRelyingPartyDid(identity, SANDBOX_SLUG)]);
  const unknown = await store.restores.listUnknownNames(held.map(({ name }) => name));
  return unknown.filter((name) => !own.has(name));
};
