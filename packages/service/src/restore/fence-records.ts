/** What was kept beside the fence, read back (keep-notes.ts writes it). */
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import { RECORD_FOLDERS } from '../fence/keep-notes.ts';
import type { FenceRecordKind, FenceStore } from '../ports/fence.ts';

/** One object beside the fence. */
export interface FenceRecord {
  readonly name: string;
  readonly kept: JsonObject;
}

/** Everything of a kind. Rejects when the outside cannot be asked, or holds what was not written there by the service. */
export const listFenceRecords = async (
  fenceStore: FenceStore,
  kind: FenceRecordKind,
): Promise<readonly FenceRecord[]> => {
  const keys = [...(await fenceStore.list(RECORD_FOLDERS[kind]))].sort();
  const all: FenceRecord[] = [];
  const { atOnce } = fenceStore;
  for (let from = 0; from < keys.length; from += atOnce)
    all.push(
      ...(await Promise.all(keys.slice(from, from + atOnce).map((key) => readFenceRecord(fenceStore, key)))),
    );
  return all;
};

const readFenceRecord = async (fenceStore: FenceStore, key: string): Promise<FenceRecord> => {
  const found = await fenceStore.find(key);
  const json = parseStrictJson(found?.text ?? '');
  if (!json.ok || !isJsonObject(json.value)) throw new Error(`${key} beside the fence is not JSON`);
  const { name, kept } = json.value;
  if (typeof name !== 'string') throw new Error(`${key} beside the fence has no name`);
  return { name, kept: kept !== undefined && isJsonObject(kept) ? kept : {} };
};
