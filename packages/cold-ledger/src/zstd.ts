/**
 * The same zstd on every version of Node, so that the same rows give the same bytes and therefore the same name,
 * whoever writes them.
 */
import zlib from 'node:zlib';
import zstd from '@bokuweb/zstd-wasm';

/** The lowest level gives the smallest result here: higher levels lose more on hashes than they gain. */
const LEVEL = 1;

/**
 * The library has one memory in a process, which each `init` replaces while calls may be under way. So it is
 * initialised once, even if this module is loaded several times.
 */
const LOADED = Symbol.for('svc.zstd.loaded');
const library = zstd as typeof zstd & { [LOADED]?: Promise<void> | undefined };

/** Must be awaited before one of the two functions is called. */
export const loadZstd = (): Promise<void> => {
  library[LOADED] ??= zstd.init().catch((error: unknown) => {
    // A file that could not be opened may exist at the next attempt.
    library[LOADED] = undefined;
    throw error;
  });
  return library[LOADED];
};

export const compressors = { ZSTD: (bytes: Uint8Array): Uint8Array => zstd.compress(bytes, LEVEL) };

/** Available from Node 22.15 on. Every implementation decompresses to the same bytes. */
const native = (zlib as { zstdDecompressSync?: (bytes: Uint8Array, options: zlib.ZlibOptions) => Uint8Array })
  .zstdDecompressSync;

/**
 * `length`: of the result. The buffer has one byte more, since Node would otherwise allocate a second one to detect the
 * end. Throws for data that is not zstd and, where Node decompresses, for a result that is longer.
 */
export const decompress = (bytes: Uint8Array, length: number): Uint8Array =>
  native?.(bytes, { chunkSize: Math.max(length + 1, 64), maxOutputLength: Math.max(length, 1) }) ??
  zstd.decompress(bytes);
