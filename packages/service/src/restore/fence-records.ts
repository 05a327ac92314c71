/** Reads the records kept beside the fence, which keep-notes.ts writes. */
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import { RECORD_FOLDERS } from '../fence/keep-notes.ts';
import type { FenceRecordKind, FenceStore } from '../ports/fence.ts';

/** One object beside the fence. */
export interface FenceRecord {
  readonly name: string;
  readonly kept: JsonObject;
}

/**
 * All records of a kind. Rejects when the fence's store does not answer, or has an object that the service did not
 * write.
 */
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
