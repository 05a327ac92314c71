/** One zstd on every Node, so that the same rows are the same bytes and have the same name, whoever writes them. */
import zstd from '@bokuweb/zstd-wasm';

/** The lowest: it is the smallest here, since higher levels lose more on hashes than they find. */
const LEVEL = 1;

let loaded: Promise<void> | null = null;

/** To be awaited before any of the two is called. */
export const loadZstd = (): Promise<void> => {
  loaded ??= zstd.init();
  return loaded;
};

export const compressors = { ZSTD: (bytes: Uint8Array): Uint8Array => zstd.compress(bytes, LEVEL) };
export const decompressors = { ZSTD: (bytes: Uint8Array): Uint8Array => zstd.decompress(bytes) };
