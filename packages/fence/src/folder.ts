/**
 * Objects in a folder that all processes of a deployment see, on one machine or by a network file system with atomic links.
 *
 * An object is a folder, each state of it a file named by its number; the highest counts. The next state is written aside,
 * flushed, and linked under its number, which succeeds once: that is the comparison and the setting in one. The latest
 * states stay, so that their numbers stay taken. A writer that was delayed for so long that its number has become free again
 * finds more than `OVERTAKEN_BY` newer states, and fails.
 */
import { randomBytes } from 'node:crypto';
import { link, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { flushFolder, makeFolders, orNull, unlessThere, writeFlushed } from '@svc/object-store/durable-files';
import type { FenceObject, FenceStore } from '@svc/service';

/** Number of states of an object that stay. */
const KEPT_STATES = 20;
/** A successful write finds at most this many newer states when it looks; with more it has used a number that was free again. */
const OVERTAKEN_BY = 10;

export const openFolder = (root: string): FenceStore => {
  const find = async (key: string): Promise<FenceObject | null> => {
    const folder = join(root, key);
    for (;;) {
      const latest = (await statesOf(folder)).at(-1);
      if (latest === undefined) return null;
      const text = await orNull(() => readFile(join(folder, String(latest)), 'utf8'));
      // Otherwise it was replaced since.
      if (text !== null) return { text, tag: String(latest) };
    }
  };
  return {
    find,
    async put(key, text, tag) {
      const folder = join(root, key);
      await makeFolders(folder);
      const states = await statesOf(folder);
      if ((states.at(-1) ?? 0) !== Number(tag ?? 0)) return false;
      const next = Number(tag ?? 0) + 1;
      if (!(await place(folder, next, text))) return false;
      const now = await statesOf(folder);
      if ((now.at(-1) ?? next) > next + OVERTAKEN_BY) return false;
      await Promise.all(
        now.slice(0, -KEPT_STATES).map((state) => rm(join(folder, String(state)), { force: true })),
      );
      return true;
    },
    async list(folder) {
      const names = (await orNull(() => readdir(join(root, folder)))) ?? [];
      return names.map((name) => `${folder}/${name}`);
    },
  };
};

/** Ascending. */
const statesOf = async (folder: string): Promise<readonly number[]> => {
  const names = (await orNull(() => readdir(folder))) ?? [];
  return names
    .filter((name) => /^[1-9][0-9]*$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
};

/** False: somebody else has placed that state. When it answers true, the state survives a crash of the machine. */
const place = async (folder: string, state: number, text: string): Promise<boolean> => {
  const draft = join(folder, `draft-${randomBytes(8).toString('hex')}`);
  try {
    await writeFlushed(draft, text);
    if (!(await unlessThere(() => link(draft, join(folder, String(state)))))) return false;
  } finally {
    await rm(draft, { force: true });
  }
  await flushFolder(folder);
  if (state === 1) await flushFolder(dirname(folder));
  return true;
};
