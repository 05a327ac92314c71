/** The file in which a monitor remembers what it saw. It is replaced as a whole, so that no crash leaves half of it. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import type { MonitorPin } from '@svc/transparency/monitor';
import { formatSeen, parseSeen, type Seen } from '@svc/transparency/monitor';
import { UsageError } from '../../command-line.ts';

/** A day has some 900 bytes. */
const MAX_BYTES = 67_108_864;

/** In the current directory, told apart by host. */
export const defaultStateFile = (origin: string): string =>
  `svc-receipt-monitor.${new URL(origin).host.replaceAll(':', '_')}.json`;

/**
 * Begins an empty one where there is no file yet. Rejects with UsageError where it cannot be written or read: a damaged
 * file is evidence, and is never begun anew.
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
      // Not writeSync, which leaves out the end where the disk is full, and does not throw.
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
