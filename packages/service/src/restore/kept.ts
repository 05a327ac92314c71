/** What was kept beside the fence, read back (keep-notes.ts writes it). */
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import { KEPT_FOLDERS } from '../fence/keep-notes.ts';
import type { KeptKind, OutsideStore } from '../ports/fence.ts';

export interface Kept {
  readonly name: string;
  readonly kept: JsonObject;
}

const AT_ONCE = 16;

/** Everything of a kind. Rejects when the outside cannot be asked, or holds what was not written there by the service. */
export const listKept = async (outside: OutsideStore, kind: KeptKind): Promise<readonly Kept[]> => {
  const keys = [...(await outside.list(KEPT_FOLDERS[kind]))].sort();
  const all: Kept[] = [];
  for (let from = 0; from < keys.length; from += AT_ONCE)
    all.push(...(await Promise.all(keys.slice(from, from + AT_ONCE).map((key) => readKept(outside, key)))));
  return all;
};

const readKept = async (outside: OutsideStore, key: string): Promise<Kept> => {
  const found = await outside.find(key);
  const json = parseStrictJson(found?.text ?? '');
  if (!json.ok || !isJsonObject(json.value)) throw new Error(`${key} beside the fence is not JSON`);
  const { name, kept } = json.value;
  if (typeof name !== 'string') throw new Error(`${key} beside the fence has no name`);
  return { name, kept: kept !== undefined && isJsonObject(kept) ? kept : {} };
};
