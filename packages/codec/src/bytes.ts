/**
 * Whether both have the same bytes. Not constant-time, since it stops at the first difference: do not use it for
 * secrets.
 */
export const isSameBytes = (bytes: Uint8Array, others: Uint8Array): boolean =>
  bytes === others || (bytes.length === others.length && bytes.every((byte, i) => byte === others[i]));

/** The parts as one array. */
export const concatBytes = (parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
};
