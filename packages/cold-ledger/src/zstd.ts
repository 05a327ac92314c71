/** One zstd on every Node, so that the same rows are the same bytes and have the same name, whoever writes them. */
import zstd from '@bokuweb/zstd-wasm';

/** The lowest: it is the smallest here, since higher levels lose more on hashes than they find. */
const LEVEL = 1;

/**
 * The library has one memory in a process, which each `init` replaces while calls may be under way: it is called once, however often
 * this module is loaded.
 */
const LOADED = Symbol.for('svc.zstd.loaded');
const library = zstd as typeof zstd & { [LOADED]?: Promise<void> | undefined };

/** To be awaited before any of the two is called. */
export const loadZstd = (): Promise<void> => {
  library[LOADED] ??= zstd.init().catch((error: unknown) => {
    // A file that could not be opened may be there the next time.
    library[LOADED] = undefined;
    throw error;
  });
  return library[LOADED];
};

export const compressors = { ZSTD: (bytes: Uint8Array): Uint8Array => zstd.compress(bytes, LEVEL) };
export const decompressors = { ZSTD: (bytes: Uint8Array): Uint8Array => zstd.decompress(bytes) };
