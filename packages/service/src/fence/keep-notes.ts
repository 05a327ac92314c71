/**
 * Copies records beside the fence when they change: those that take authority away, and those that must not be given
 * twice. These are status lists as served, checkpoints, names and revoked keys. A note is deleted only after its object
 * is stored outside.
 *
 * A pass copies each note that existed when it began once, the oldest first. Notes of revocations come first, including
 * those made meanwhile. So a note waits only for older ones and for revocations, once for each. No note that cannot be
 * copied, and none that changes all the time, keeps others waiting.
 */
import { isJsonObject, parseStrictJson } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { withinMs } from '../lib/deadline.ts';
import { messageOf } from '../lib/message-of.ts';
import type { FenceNote, FenceRecordKind, FenceStore } from '../ports/fence.ts';

type Deps = Pick<ServiceDeps, 'store' | 'crypto' | 'log'>;

const BATCH = 100;
/** More than the read and the write of one object take. */
const NOTE_DEADLINE_MS = 5_000;

export const RECORD_FOLDERS: Readonly<Record<FenceRecordKind, string>> = {
  'status-list': 'status-lists',
  checkpoint: 'checkpoints',
  name: 'names',
  revoked: 'revoked',
};

/** A note that a pass could not copy, and why. */
interface Failure {
  readonly key: string;
  readonly error: string;
}

export class NoteKeeper {
  /** Since when the oldest note has waited, by the monotonic clock; null: none waits. */
  #waitingSinceMs: number | null = null;
  #failure: Failure | null = null;

  constructor(
    private readonly deps: Deps,
    private readonly fenceStore: FenceStore,
  ) {}

  /** Milliseconds for which the oldest uncopied change has waited; 0: none waits. Answers from memory. */
  ageMs(): number {
    return this.#waitingSinceMs === null ? 0 : performance.now() - this.#waitingSinceMs;
  }

  /** The first note that the last pass could not copy; null: it copied all. */
  failure(): Failure | null {
    return this.#failure;
  }

  /** Copies the waiting notes. Rejects when storage does not answer; notes that were copied before stay copied. */
  async pass(stop: AbortSignal): Promise<void> {
    const { lineage } = this.deps.store;
    const { atOnce } = this.fenceStore;
    const upTo = await this.look();
    const passed = { revoked: 0, others: 0 };
    const failures: Failure[] = [];
    let batch = BATCH;
    for (let isMore = upTo > 0; isMore; await this.look()) {
      if (stop.aborted) return;
      const notes = await lineage.listNotes(passed, upTo, batch).catch((error: unknown) => {
        if (batch === 1) throw error;
        return null;
      });
      // The database builds the texts while it lists. Where a hundred take too long, a smaller batch may not.
      if (notes === null) {
        batch = Math.ceil(batch / 4);
        continue;
      }
      // No more than the store takes at once, because a copy that waits in the store uses up its deadline.
      for (let from = 0; from < notes.length; from += atOnce) {
        if (stop.aborted) return;
        failures.push(...(await this.#copy(notes.slice(from, from + atOnce))));
      }
      for (const { kind, seq } of notes) passed[kind === 'revoked' ? 'revoked' : 'others'] = seq;
      isMore = notes.length === batch;
    }
    this.#tell(failures);
  }

  /** Reads the age of the oldest note from the database. Resolves to the `seq` of the last note, 0 for none. */
  async look(): Promise<number> {
    const { oldestAgeMs, lastSeq } = await this.deps.store.lineage.describeNotes();
    this.#waitingSinceMs = lastSeq === 0 ? null : performance.now() - oldestAgeMs;
    return lastSeq;
  }

  async #copy(notes: readonly FenceNote[]): Promise<readonly Failure[]> {
    const failures: Failure[] = [];
    const copied: FenceNote[] = [];
    const one = async (note: FenceNote) => {
      const key = `${RECORD_FOLDERS[note.kind]}/${this.deps.crypto.sha256Hex(note.name)}`;
      try {
        await withinMs(NOTE_DEADLINE_MS, keep(this.fenceStore, key, note), () => {
          throw new Error(`no answer within ${NOTE_DEADLINE_MS} ms`);
        });
        copied.push(note);
      } catch (error) {
        failures.push({ key, error: messageOf(error) });
      }
    };
    await Promise.all(notes.map(one));
    if (copied.length > 0) await this.deps.store.lineage.forgetNotes(copied);
    return failures;
  }

  /** Logs the first failure when it changes. */
  #tell(failures: readonly Failure[]): void {
    const [first = null] = failures;
    if (first !== null && first.key !== this.#failure?.key)
      this.deps.log.error('fence.not_kept', { notes: failures.length, ...first });
    if (first === null && this.#failure !== null) this.deps.log.warn('fence.kept_again', {});
    this.#failure = first;
  }
}

/** Writes a copy. The higher version stays, in whatever order two versions are written. */
const keep = async (fenceStore: FenceStore, key: string, note: FenceNote): Promise<void> => {
  const text = `{"name":${JSON.stringify(note.name)},"kept":${note.text ?? 'null'}}`;
  for (;;) {
    const found = await fenceStore.find(key);
    if (found !== null && (found.text === text || isLater(found.text, text))) return;
    if (await fenceStore.put(key, text, found?.tag ?? null)) return;
  }
};

const isLater = (one: string, other: string): boolean => versionOf(one) > versionOf(other);

/** The version of a kept text, 0 if it has none. −1 for a damaged text, so that any other text replaces it. */
const versionOf = (text: string): number => {
  const json = parseStrictJson(text);
  if (!json.ok || !isJsonObject(json.value)) return -1;
  const { kept } = json.value;
  return kept !== undefined && isJsonObject(kept) && typeof kept.version === 'number' ? kept.version : 0;
};
