/** Whether two DID documents with the same `id` publish the same keys. */
import { isJsonObject, type JsonObject, type JsonValue, jcs, parseStrictJson } from '@svc/protocol';

/**
 * Whether `given` has the `id` of `own` and contains a key that `own` does not publish in the same way: another key,
 * another time in force, or another purpose. A key that is only missing in `given` is no difference. False where one of
 * the texts cannot be read.
 */
export const hasOtherKeys = (given: string, own: string): boolean => {
  const [theirs, ours] = [readObject(given), readObject(own)];
  if (theirs === null || ours === null || theirs.id !== ours.id) return false;
  return ['verificationMethod', 'assertionMethod'].some((name) => {
    const published = new Set(listOf(ours[name]).map(textOf));
    return listOf(theirs[name]).some((entry) => !published.has(textOf(entry)));
  });
};

const readObject = (text: string): JsonObject | null => {
  const parsed = parseStrictJson(text);
  return parsed.ok && isJsonObject(parsed.value) ? parsed.value : null;
};

const listOf = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);

const textOf = (value: JsonValue): string => jcs(value);
