/**
 * What a restore has to do (protocol §10): first by the fence's head, or by whoever restored the database, then by what was kept
 * beside the fence. Changes nothing.
 */
import { formatTimestamp, PROOF_WINDOW_MAX_SECONDS, TRUST_CONFIG } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { HEAD_KEY, parseOwnHead, serviceOfHead } from '../fence/head.ts';
import { parseRecords, type RevokedRecord } from '../fence/records.ts';
import type { FenceHead, FenceStore, NamedLoss } from '../ports/fence.ts';
import { managedRelyingPartyDid, SANDBOX_SLUG } from '../principals/domain.ts';
import { type FenceRecord, listFenceRecords } from './fence-records.ts';

/** The longest a process can be told to decide on one head (`SVC_FENCE_MAX_AGE_MS`). */
const LONGEST_ON_ONE_HEAD_MS = 10_000;

/** The widest window, the skew on both of its sides, and a commit that was under way. */
export const PROOF_LIFE_MS = (PROOF_WINDOW_MAX_SECONDS + 2 * TRUST_CONFIG.clockSkewSeconds + 3) * 1_000;

export interface LostSpan {
  /** What the restore goes on from: the fence's, or one of this instant where a person says what is lost. */
  readonly head: FenceHead;
  /** Tag of the head as it was read, for compare-and-set; null: there is none. */
  readonly tag: string | null;
  /** Whose head it is where it is that of a DID that the service had before; else null. */
  readonly formerDid: string | null;
  readonly lostFromMs: number;
  readonly lostUntilMs: number;
  /** No Proof that was spent in the lost span is fresh from then on. */
  readonly quarantinedUntilMs: number;
  /** Whether names that were copied beside the fence are later than what the database has. */
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

/** Null: the database has what the fence names, and nothing is lost by that. Rejects with what stands in the way. */
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
 * Where nothing outside tells that the database was set back, since what is outside was lost or set back with it: `fromMs` is the
 * moment of the backup, by whoever restored it, and anything since may be lost. `fenceStore`: null where there is no fence.
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

/** `older`: than all beats that the database remembers. */
const ageOf = async ({ store }: Deps, head: FenceHead): Promise<'known' | 'later' | 'older'> => {
  if (await store.restores.isKnownHead(head)) return 'known';
  return head.seq < (await store.restores.findLast()).firstSeq ? 'older' : 'later';
};

/** By a head that the database lacks. */
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
  readonly lists: readonly FenceRecord[];
  readonly checkpoints: readonly FenceRecord[];
  readonly revoked: readonly RevokedRecord[];
  readonly names: readonly FenceRecord[];
  /** Registered in the lost span, and unknown here. */
  readonly lostNames: readonly string[];
}

const NO_RECORDS: FenceRecords = { lists: [], checkpoints: [], revoked: [], names: [], lostNames: [] };

/** None without a fence. */
export const findFenceRecords = async (
  { store, identity }: Deps,
  fenceStore: FenceStore | null,
): Promise<FenceRecords> => {
  if (fenceStore === null) return NO_RECORDS;
  const lists = await listFenceRecords(fenceStore, 'status-list');
  const checkpoints = await listFenceRecords(fenceStore, 'checkpoint');
  const revoked = parseRecords(await listFenceRecords(fenceStore, 'revoked'));
  const names = await listFenceRecords(fenceStore, 'name');
  return { lists, checkpoints, revoked, names, lostNames: await listLostNames({ store, identity }, names) };
};

/** Those that somebody held when they were kept, and nobody has here. */
export const listLostNames = async (
  { store, identity }: Deps,
  names: readonly FenceRecord[],
): Promise<readonly string[]> => {
  const held = names.filter(({ kept }) => kept.principal !== null || kept.relying_party !== null);
  // The service makes these again by itself.
  const own = new Set<string>([identity.sandboxPrincipal, managedRelyingPartyDid(identity, SANDBOX_SLUG)]);
  const unknown = await store.restores.listUnknownNames(held.map(({ name }) => name));
  return unknown.filter((name) => !own.has(name));
};
