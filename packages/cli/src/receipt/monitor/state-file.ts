/**
 * The file in which a monitor stores what it saw. It is replaced as a whole, so that a crash cannot leave half of it.
 */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { MonitorPin } from '@svc/transparency/monitor';
import { formatSeen, parseSeen, type Seen } from '@svc/transparency/monitor';
import { UsageError } from '../../command-line.ts';

/** A day takes some 900 bytes. */
const MAX_BYTES = 67_108_864;

/** In the current directory, one file per host. */
export const defaultStateFile = (origin: string): string =>
  `svc-receipt-monitor.${new URL(origin).host.replaceAll(':', '_')}.json`;

/**
 * Reads the state, or creates an empty one if there is no file yet. Rejects with UsageError if the file cannot be read
 * or written. A damaged file is evidence, so it is never replaced by an empty one.
 */
export const openState = async (path: string, pin: MonitorPin): Promise<Seen> => {
  const text = await readIfThere(path);
  if (text === null) {
    writeState(path, []);
    return [];
  }
  const parsed = parseSeen(text, pin);
  if (parsed.ok) return parsed.seen;
  throw new UsageError(
    `the state ${path} cannot be used: ${parsed.problem}. Keep it, and restore it or name another with --state`,
  );
};

const readIfThere = async (path: string): Promise<string | null> => {
  try {
    if ((await stat(path)).size > MAX_BYTES)
      throw new UsageError(`the state ${path} must be at most ${MAX_BYTES} bytes`);
    return await readFile(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return null;
    if (error instanceof UsageError) throw error;
    throw new UsageError(`the state ${path} cannot be read: ${messageOf(error)}`);
  }
};

/** Throws UsageError. */
export const writeState = (path: string, seen: Seen): void => {
  const beside = `${path}.${process.pid}.tmp`;
  try {
    const file = openSync(beside, 'w', 0o644);
    try {
      // Not writeSync: if the disk is full, it writes only a part and does not throw.
      writeFileSync(file, formatSeen(seen));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(beside, path);
  } catch (error) {
    rmSync(beside, { force: true });
    throw new UsageError(`the state ${path} cannot be written: ${messageOf(error)}`);
  }
};

const isAbsent = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === 'ENOENT';
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : 'unknown error');
