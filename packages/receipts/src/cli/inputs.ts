/** What the command reads: files and standard input, each bounded. No network. */
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';

export const MAX_INPUT_BYTES = 1_048_576;
/** The largest status list there can be. */
export const MAX_EVIDENCE_BYTES = 4 * MAX_INPUT_BYTES;

/** Something that the person at the command line has to put right. The answer is "could not decide". */
export class InputError extends Error {
  override readonly name = 'InputError';
}

const STDIN = 0;

/** The text of a file, or of standard input for `-`. Throws InputError. */
export const readText = (path: string, what: string, maxBytes: number = MAX_INPUT_BYTES): string => {
  const bytes = readBounded(path, what, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new InputError(`${what} ${path} must be UTF-8 text`);
  }
};

const readBounded = (path: string, what: string, maxBytes: number): Uint8Array => {
  let fd: number | null = null;
  try {
    fd = path === '-' ? STDIN : openSync(path, 'r');
    return readAll(fd, maxBytes);
  } catch (error) {
    if (error instanceof RangeError)
      throw new InputError(`${what} ${path} must be at most ${maxBytes} bytes`);
    throw new InputError(`${what} ${path} cannot be read: ${reasonOf(error)}`);
  } finally {
    if (fd !== null && fd !== STDIN) closeSync(fd);
  }
};

/** Throws RangeError as soon as there is more than `maxBytes`, whatever the size of the input. */
const readAll = (fd: number, maxBytes: number): Uint8Array => {
  const buffer = Buffer.alloc(65_536);
  const chunks: Buffer[] = [];
  let total = 0;
  for (;;) {
    const count = readSync(fd, buffer);
    if (count === 0) return Buffer.concat(chunks);
    total += count;
    if (total > maxBytes) throw new RangeError('too long');
    chunks.push(Buffer.from(buffer.subarray(0, count)));
  }
};

const reasonOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a directory';
  if (code === 'EACCES') return 'permission denied';
  return error instanceof Error ? error.message : 'unknown error';
};

/** The texts in these files and in the files of these directories, by their SHA-256. Throws InputError. */
export const readEvidence = (paths: readonly string[]): ReadonlyMap<string, string> => {
  const texts = new Map<string, string>();
  for (const path of paths.flatMap(listFiles)) {
    const text = readText(path, 'evidence', MAX_EVIDENCE_BYTES);
    texts.set(sha256Of(nativeCrypto, text), text);
  }
  return texts;
};

const listFiles = (path: string): string[] => {
  try {
    if (!statSync(path).isDirectory()) return [path];
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(path, entry.name));
  } catch (error) {
    throw new InputError(`evidence ${path} cannot be read: ${reasonOf(error)}`);
  }
};
