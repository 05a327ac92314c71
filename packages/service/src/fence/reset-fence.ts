/** Replaces the fence's head by one that the present database has. */
import type { ServiceDeps } from '../deps.ts';
import type { FenceHead, FenceStore } from '../ports/fence.ts';
import { formatHead, HEAD_KEY, parseOwnHead, serviceOfHead } from './head.ts';

type Deps = Pick<ServiceDeps, 'store' | 'identity' | 'random'>;

/** `untilMs`: when decisions begin. `problem`: why nothing was done. */
export type FenceReset =
  | { readonly head: FenceHead; readonly untilMs: number }
  | { readonly problem: string };

const NOT_THE_LATEST =
  'the database lacks what the fence names: it was restored or replaced, and what was revoked since would be allowed ' +
  'again. Run svc-admin restore. Where nothing of that may count, move the fence away first, or name another place.';

const describeStranger = (of: string): string =>
  `the fence is that of ${of}, which is another deployment: to begin it anew would stop that one. Name another place in SVC_FENCE`;

/** The database is a copy of that service's database, now under another DID, or it was restored. */
const describeFormer = (of: string): string =>
  `the fence is that of ${of}, a former DID of this service, and names what this database lacks. Where a service still works as ${of}, ` +
  'it is that one’s: name another place in SVC_FENCE. Where this database was restored: run svc-admin restore';

/** A running service makes about four beats a second. */
const AT_WORK_MS = 5_000;
const AT_WORK =
  `the database had a beat within the last ${AT_WORK_MS / 1_000} s: a service is at work, here or on another fence, and there is nothing to begin anew. ` +
  'See that SVC_FENCE names the place that the service has; to begin anew all the same, stop every process first';

/**
 * Resets the fence of a database on which no process is running. The fence of a DID that this service never had is not
 * changed. Rejects where the fence moved meanwhile: then a process is running, and decides when the quarantine is over.
 */
export const resetFence = async (
  { store, identity, random }: Deps,
  fenceStore: FenceStore,
  quarantineMs: number,
): Promise<FenceReset> => {
  const found = await fenceStore.find(HEAD_KEY);
  const of = (found && serviceOfHead(found.text)) ?? identity.did;
  if (![identity, ...identity.formers].some(({ did }) => did === of))
    return { problem: describeStranger(of) };
  const former = found === null ? null : parseOwnHead(identity, found.text);
  const formerHead = former === null || 'problem' in former ? null : former;
  const { epoch, firstSeq, seq, ageMs } = await store.restores.findLast();
  // A head older than all beats means that the fence itself was set back. Without beats the database had no fence, or
  // it was removed.
  const isOlder = formerHead === null || firstSeq === 0 || formerHead.seq < firstSeq;
  if (!isOlder && !(await store.restores.isKnownHead(formerHead)))
    return { problem: of === identity.did ? NOT_THE_LATEST : describeFormer(of) };
  // A negative age: the beat was made before the clock was set back.
  if (ageMs !== null && ageMs >= 0 && ageMs < AT_WORK_MS) return { problem: AT_WORK };
  const formerSeq = formerHead?.seq ?? 0;
  const nonce = Buffer.from(random.bytes(16)).toString('hex');
  const atMs = Math.floor(await store.now());
  const wanted = { epoch, seq: Math.max(seq, formerSeq) + 1, nonce, atMs };
  const untilMs = atMs + quarantineMs;
  const head = await store.transaction(async ({ restores }) => {
    if (quarantineMs > 0) {
      await restores.sealUntil(untilMs);
      await restores.quarantineUntil(untilMs);
    }
    return { ...wanted, seq: await restores.adopt(wanted) };
  });
  if (!(await fenceStore.put(HEAD_KEY, formatHead(identity.did, head), found?.tag ?? null)))
    throw new Error('the fence moved meanwhile: a service is at work; look again');
  return { head, untilMs };
};
