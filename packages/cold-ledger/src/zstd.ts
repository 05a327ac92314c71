/** One zstd on every Node, so that the same rows are the same bytes and have the same name, whoever writes them. */
import zlib from 'node:zlib';
import zstd from '@bokuweb/zstd-wasm';

/** The lowest: it is the smallest here, since higher levels lose more on hashes than they find. */
const LEVEL = 1;

/**
 * The library has one memory in a process, which each `init` replaces while calls may be under way: it is called once,
 * however often this module is loaded.
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

/** Node 22.15 and later. What is decompressed is the same, whoever does it. */
const native = (zlib as { zstdDecompressSync?: (bytes: Uint8Array, options: zlib.ZlibOptions) => Uint8Array })
  .zstdDecompressSync;

/**
 * `length`: of the result. The buffer has one byte more, or Node would allocate a second one to look for the end.
 * Throws for what is not zstd, and, where Node decompresses, for what is longer.
 */
export const decompress = (bytes: Uint8Array, length: number): Uint8Array =>
  native?.(bytes, { chunkSize: Math.max(length + 1, 64), maxOutputLength: Math.max(length, 1) }) ??
  zstd.decompress(bytes);
