/** Reads the command's inputs, files and standard input, each with a size limit. fetch.ts reads from the network. */
import { createReadStream, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { UsageError } from '../command-line.ts';

export const MAX_INPUT_BYTES = 1_048_576;
/** The size of the largest possible status list. */
const MAX_EVIDENCE_BYTES = 4 * MAX_INPUT_BYTES;

/** A bundle contains evidence. */
export const MAX_BUNDLE_BYTES = 4 * MAX_EVIDENCE_BYTES;

/** The text of a file, or of standard input for `-`. It must not be empty. Rejects with UsageError. */
export const readText = async (path: string, what: string, maxBytes = MAX_INPUT_BYTES): Promise<string> => {
  const text = withoutMark(await readAnyText(path, what, maxBytes));
  if (text.trim() === '') throw new UsageError(`${what}, ${placeOf(path)}, is empty`);
  return text;
};

/** The text to verify. Only a bundle may be larger than other inputs. Rejects with UsageError. */
export const readGiven = async (path: string): Promise<string> => {
  const given = await readAnyText(path, 'the Receipt', MAX_BUNDLE_BYTES).catch((error: unknown) => {
    const isWord = /^[a-z]+$/.test(path) && error instanceof UsageError;
    throw isWord && error.message.includes('no such file')
      ? new UsageError(`there is no such file, and the command must be verify, audit or monitor, not ${path}`)
      : error;
  });
  const text = withoutMark(given);
  if (!text.includes('"did_document"') && Buffer.byteLength(text) > MAX_INPUT_BYTES)
    throw new UsageError(`the Receipt ${path} must be at most ${MAX_INPUT_BYTES} bytes`);
  if (text.trim() === '') throw new UsageError(`the Receipt, ${placeOf(path)}, is empty`);
  return text;
};

/**
 * Some editors begin a file with a byte order mark, which is not part of the text. Evidence keeps it, because its hash
 * covers every byte.
 */
const withoutMark = (text: string): string => text.replace(/^\uFEFF/, '');

const placeOf = (path: string): string => (path === '-' ? 'standard input' : path);

const readAnyText = async (path: string, what: string, maxBytes: number): Promise<string> => {
  const bytes = await readBounded(path, what, maxBytes);
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new UsageError(`${what} ${path} must be UTF-8 text`);
  }
};

/** Stops reading as soon as the limit is exceeded, whatever the size of the input. */
const readBounded = async (path: string, what: string, maxBytes: number): Promise<Uint8Array> => {
  const chunks: Buffer[] = [];
  let total = 0;
  try {
    for await (const chunk of path === '-' ? process.stdin : createReadStream(path)) {
      total += chunk.length;
      if (total > maxBytes) break;
      chunks.push(chunk);
    }
  } catch (error) {
    throw new UsageError(`${what} ${path} cannot be read: ${reasonOf(error)}`);
  }
  if (total > maxBytes) throw new UsageError(`${what} ${path} must be at most ${maxBytes} bytes`);
  return Buffer.concat(chunks);
};

const reasonOf = (error: unknown): string => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ENOENT') return 'there is no such file';
  if (code === 'EISDIR') return 'it is a directory';
  if (code === 'EACCES') return 'permission denied';
  return error instanceof Error ? error.message : 'unknown error';
};

export interface Evidence {
  /** Texts by the SHA-256 of their actual content. */
  readonly texts: ReadonlyMap<string, string>;
  /** By the hash in a file's name: the problem if the content has another hash or cannot be read. */
  readonly misnamed: ReadonlyMap<string, string>;
}

/**
 * Reads these files, and the files in these directories, and keeps the texts with these hashes. A directory may also
 * contain other files, of any kind and size. Rejects with UsageError for a given file that is not readable text.
 */
export const readEvidence = async (
  paths: readonly string[],
  wanted: ReadonlySet<string>,
): Promise<Evidence> => {
  const texts = new Map<string, string>();
  const misnamed = new Map<string, string>();
  const read = async (path: string): Promise<void> => {
    const text = await readAnyText(path, 'evidence', MAX_EVIDENCE_BYTES);
    const hash = sha256Of(nativeCrypto, text);
    const named = nameAsHash(path);
    if (wanted.has(hash)) texts.set(hash, text);
    if (named !== null && named !== hash)
      misnamed.set(named, `the evidence file ${path} has hash ${hash}, not ${named}`);
  };
  for (const path of paths) {
    const files = listFiles(path);
    if (files === null) await read(path);
    for (const file of files ?? [])
      await read(file).catch((error: unknown) => {
        if (!(error instanceof UsageError)) throw error;
        misnamed.set(nameAsHash(file) ?? '', error.message);
      });
  }
  return { texts, misnamed };
};

/** Files are often named by the hash under which they were fetched, in upper or lower case. */
const nameAsHash = (path: string): string | null => {
  const hex = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/i.exec(basename(path))?.[0];
  return hex === undefined ? null : `sha256:${hex.toLowerCase()}`;
};

/** Null if it is not a directory. */
const listFiles = (path: string): string[] | null => {
  try {
    if (!statSync(path).isDirectory()) return null;
    const entries = readdirSync(path, { withFileTypes: true });
    return entries.filter((entry) => entry.isFile()).map((entry) => join(path, entry.name));
  } catch (error) {
    throw new UsageError(`evidence ${path} cannot be read: ${reasonOf(error)}`);
  }
};
