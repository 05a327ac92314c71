export { createBitstring, getBit, MIN_ENTRIES, type StatusBitstring, setBit } from './bitstring.ts';
export { DEFAULT_MAX_BYTES, decodeBitstring, encodeBitstring, encodeGzipped } from './encoded-list.ts';
export { type BitstringStatusListEntry, buildStatusEntry } from './status-entry.ts';
export {
  buildStatusListCredential,
  parseStatusListCredential,
  type StatusListContent,
  type StatusListCredential,
} from './status-list-credential.ts';
