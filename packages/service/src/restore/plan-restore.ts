/** What a restore has to do (protocol §10): first by the fence's head, then by what was kept beside it. Changes nothing. */
import { TRUST_CONFIG } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { HEAD_KEY, parseHead } from '../fence/head.ts';
import type { FenceHead, FenceStore } from '../ports/fence.ts';
import { type FenceRecord, listFenceRecords } from './fence-records.ts';

/** The longest a process can be told to decide on one head (`SVC_FENCE_MAX_AGE_MS`). */
const LONGEST_ON_ONE_HEAD_MS = 10_000;

/** The widest window, the skew on both of its sides, and a commit that was under way. */
export const PROOF_LIFE_MS = (300 + 2 * TRUST_CONFIG.clockSkewSeconds + 3) * 1_000;

export interface LostSpan {
  readonly head: FenceHead;
  /** Of the head as it was read, for compare-and-set. */
  readonly tag: string;
  readonly lostFromMs: number;
  readonly lostUntilMs: number;
  /** No Proof that was spent in the lost span is fresh from then on. */
  readonly quarantinedUntilMs: number;
}

type Deps = Pick<ServiceDeps, 'store' | 'identity'>;

/** Null: the database has what the fence names, and nothing is lost. Rejects with what stands in the way. */
export const findLostSpan = async (
  { store, identity }: Deps,
  outside: FenceStore,
): Promise<LostSpan | null> => {
  const found = await outside.find(HEAD_KEY);
  if (found === null) throw new Error('there is no fence where SVC_FENCE says: nothing tells what was lost');
  const head = parseHead(identity.did, found.text);
  if ('problem' in head) throw new Error(head.problem);
  if (await store.restores.isKnownHead(head)) return null;
  const lostUntilMs = head.atMs + LONGEST_ON_ONE_HEAD_MS;
  return {
    head,
    tag: found.tag,
    lostFromMs: Math.min(await store.restores.knownUntilMs(), head.atMs),
    lostUntilMs,
    quarantinedUntilMs: lostUntilMs + PROOF_LIFE_MS,
  };
};

/** All objects beside the fence, by kind. */
export interface FenceRecords {
  readonly lists: readonly FenceRecord[];
  readonly checkpoints: readonly FenceRecord[];
  readonly revoked: readonly FenceRecord[];
  readonly names: readonly FenceRecord[];
  /** Registered in the lost span, and unknown here. */
  readonly lostNames: readonly string[];
}

export const findFenceRecords = async (
  { store, identity }: Deps,
  outside: FenceStore,
): Promise<FenceRecords> => {
  const lists = await listFenceRecords(outside, 'status-list');
  const checkpoints = await listFenceRecords(outside, 'checkpoint');
  const revoked = await listFenceRecords(outside, 'revoked');
  const names = await listFenceRecords(outside, 'name');
  return { lists, checkpoints, revoked, names, lostNames: await listLostNames({ store, identity }, names) };
};

/** Those that somebody held when they were kept, and nobody has here. */
export const listLostNames = async (
  { store, identity }: Deps,
  names: readonly FenceRecord[],
): Promise<readonly string[]> => {
  const held = names.filter(({ kept }) => kept.principal !== null || kept.relying_party !== null);
  // The service makes these again by itself.
  const own = new Set([identity.sandboxPrincipal, `did:web:${identity.domain}:rp:sandbox`]);
  const unknown = await store.restores.listUnknownNames(held.map(({ name }) => name));
  return unknown.filter((name) => !own.has(name));
};
