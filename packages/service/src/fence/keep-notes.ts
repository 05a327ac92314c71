/**
 * What takes authority away, or must not be given twice, copied out beside the fence as it changes: status lists as they
 * are served, checkpoints, names, revoked keys. A note is forgotten only after its object is stored outside.
 *
 * A pass takes every note that was there when it began, once, by its age; what revokes comes first, also what is noted
 * meanwhile. So a note waits for those before it, and neither for one that cannot be copied nor for one that changes all
 * the time.
 */
import { isJsonObject, parseStrictJson } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { withinMs } from '../lib/deadline.ts';
import { messageOf } from '../lib/message-of.ts';
import type { FenceNote, FenceRecordKind, FenceStore } from '../ports/fence.ts';

type Deps = Pick<ServiceDeps, 'store' | 'crypto' | 'log'>;

const BATCH = 100;
/** Longer than the look-up and the write of one object take. */
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
  /** Since when the note that waits longest does, by the monotonic clock; null: none waits. */
  #waitingSinceMs: number | null = null;
  #failure: Failure | null = null;

  constructor(
    private readonly deps: Deps,
    private readonly fenceStore: FenceStore,
  ) {}

  /** How long the change that waits longest has not been copied; 0: none waits. Asks nobody. */
  ageMs(): number {
    return this.#waitingSinceMs === null ? 0 : performance.now() - this.#waitingSinceMs;
  }

  /** The first that the last pass could not copy. */
  failure(): Failure | null {
    return this.#failure;
  }

  /** Rejects when storage cannot be asked; what was copied until then stays. */
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
      // Texts are made as they are listed: where a hundred take too long, fewer do not.
      if (notes === null) {
        batch = Math.ceil(batch / 4);
        continue;
      }
      // No more than the store takes at once: what waits in it uses up its deadline.
      for (let from = 0; from < notes.length; from += atOnce) {
        if (stop.aborted) return;
        failures.push(...(await this.#copy(notes.slice(from, from + atOnce))));
      }
      for (const { kind, seq } of notes) passed[kind === 'revoked' ? 'revoked' : 'others'] = seq;
      isMore = notes.length === batch;
    }
    this.#tell(failures);
  }

  /** Asks the database alone since when what waits does. Resolves to the number of the last note, 0 for none. */
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

  /** In the log when it changes, and no oftener. */
  #tell(failures: readonly Failure[]): void {
    const [first = null] = failures;
    if (first !== null && first.key !== this.#failure?.key)
      this.deps.log.error('fence.not_kept', { notes: failures.length, ...first });
    if (first === null && this.#failure !== null) this.deps.log.warn('fence.kept_again', {});
    this.#failure = first;
  }
}

/** The later version of a list wins, in whatever order the two are written. */
const keep = async (fenceStore: FenceStore, key: string, note: FenceNote): Promise<void> => {
  const text = `{"name":${JSON.stringify(note.name)},"kept":${note.text ?? 'null'}}`;
  for (;;) {
    const found = await fenceStore.find(key);
    if (found !== null && (found.text === text || isLater(found.text, text))) return;
    if (await fenceStore.put(key, text, found?.tag ?? null)) return;
  }
};

const isLater = (one: string, other: string): boolean => versionOf(one) > versionOf(other);

/** The version of a kept text; −1 for a damaged text: anything replaces it. */
const versionOf = (text: string): number => {
  const json = parseStrictJson(text);
  if (!json.ok || !isJsonObject(json.value)) return -1;
  const { kept } = json.value;
  return kept !== undefined && isJsonObject(kept) && typeof kept.version === 'number' ? kept.version : 0;
};
