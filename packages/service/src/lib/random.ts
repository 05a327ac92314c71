/**
 * Random bytes, read from the system in pages: one system call is enough for hundreds of ids. No byte is used twice.
 */
import { randomFillSync } from 'node:crypto';
import type { Random } from '../ports/platform.ts';

const PAGE_BYTES = 4096;

export const pooledRandom = (): Random => {
  const page = new Uint8Array(PAGE_BYTES);
  let used = PAGE_BYTES;
  return {
    bytes: (length) => {
      if (length > PAGE_BYTES) return randomFillSync(new Uint8Array(length));
      if (used + length > PAGE_BYTES) {
        randomFillSync(page);
        used = 0;
      }
      const bytes = page.slice(used, used + length);
      page.fill(0, used, used + length);
      used += length;
      return bytes;
    },
  };
};
