/**
 * What takes authority away, or must not be given twice, copied out beside the fence as it changes: status lists as they
 * are served, checkpoints, names, revoked keys. A note is forgotten only after its object is stored outside.
 */
import type { ServiceDeps } from '../deps.ts';
import type { FenceNote, KeptKind, OutsideStore } from '../ports/fence.ts';

type Deps = Pick<ServiceDeps, 'store' | 'crypto'>;

const BATCH = 100;
const AT_ONCE = 10;

export const KEPT_FOLDERS: Readonly<Record<KeptKind, string>> = {
  'status-list': 'status-lists',
  checkpoint: 'checkpoints',
  name: 'names',
  revoked: 'revoked',
};

/** Rejects when storage or the outside cannot be asked; what was copied until then stays. */
export const keepNotes = async (deps: Deps, outside: OutsideStore, stop: AbortSignal): Promise<void> => {
  for (;;) {
    const notes = await deps.store.lineage.listNotes(BATCH);
    for (let from = 0; from < notes.length; from += AT_ONCE) {
      if (stop.aborted) return;
      const some = notes.slice(from, from + AT_ONCE);
      await Promise.all(some.map((note) => keep(deps, outside, note)));
      await deps.store.lineage.forgetNotes(some);
    }
    if (notes.length < BATCH) return;
  }
};

/** What of two versions of a list counts is the later one, whoever comes last. */
const keep = async ({ crypto }: Deps, outside: OutsideStore, note: FenceNote): Promise<void> => {
  const key = `${KEPT_FOLDERS[note.kind]}/${crypto.sha256Hex(note.name)}`;
  const text = `{"name":${JSON.stringify(note.name)},"kept":${note.text ?? 'null'}}`;
  for (;;) {
    const found = await outside.find(key);
    if (found !== null && (found.text === text || isLater(found.text, text))) return;
    if (await outside.put(key, text, found?.tag ?? null)) return;
  }
};

const isLater = (one: string, other: string): boolean => versionOf(one) > versionOf(other);

const versionOf = (text: string): number => {
  const { kept } = JSON.parse(text) as { kept: { version?: number } | null };
  return kept?.version ?? 0;
};
