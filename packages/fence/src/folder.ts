/**
 * Objects in a folder that all processes of a deployment share, on one machine or on a network file system with atomic
 * links.
 *
 * An object is a folder. Each of its states is a file that is named by its number, and the highest number is the
 * present state. A new state is written to a draft, flushed, and linked under its number. The link succeeds only once,
 * so it compares and sets in one step. The latest states are kept, so that their numbers stay taken. If a writer was
 * delayed for so long that its number has become free again, it finds more than `OVERTAKEN_BY` newer states, and fails.
 *
 * A call into a mount that does not answer cannot be cancelled. It occupies one of the process's few threads for files
 * and host names. So only one call at a time is made for the head, and one for all other keys.
 */
import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { link, readdir, readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { flushFolder, makeFolders, orNull, unlessThere, writeFlushed } from '@svc/object-store/durable-files';
import { type FenceObject, type FenceStore, HEAD_KEY, Semaphore, withinMs } from '@svc/service';

/** For the head, and for all other keys. */
const AT_ONCE = 1;
/** Number of states of an object that are kept. */
const KEPT_STATES = 20;
/**
 * A successful write finds at most this number of newer states; with more, it has used a number that had become free
 * again.
 */
const OVERTAKEN_BY = 10;

/** Longer than any caller waits for an answer. */
const CALL_DEADLINE_MS = 10_000;
/** More than `AT_ONCE`, since calls that their caller has given up go on waiting. */
const MAX_WAITING = 20;

export interface FolderOptions {
  /** Milliseconds that a call may take from its turn on. */
  readonly deadlineMs?: number;
}

/**
 * A call rejects if it has not ended by its deadline. Until it does end, further calls that would wait for it are
 * refused at once.
 */
export const openFolder = (root: string, options: FolderOptions = {}): FenceStore => {
  const { deadlineMs = CALL_DEADLINE_MS } = options;
  const calls = callsBelow(root);
  const [ofHead, ofOthers] = [createTurns(deadlineMs), createTurns(deadlineMs)];
  const turnsOf = (key: string) => (key === HEAD_KEY ? ofHead : ofOthers);
  return {
    atOnce: AT_ONCE,
    find: (key) => turnsOf(key)(() => calls.find(key)),
    put: (key, text, tag) => turnsOf(key)(() => calls.put(key, text, tag)),
    async list(folder) {
      const keys: string[] = [];
      // Each in a turn of its own, so that the deadline is not that of all objects.
      for (const key of await ofOthers(() => calls.list(folder)))
        if (await ofOthers(() => calls.isPut(key))) keys.push(key);
      return keys;
    },
  };
};

type InTurn = <T>(call: () => Promise<T>) => Promise<T>;

/** Makes one call after another. A late call keeps its turn until it ends. */
const createTurns = (deadlineMs: number): InTurn => {
  const gate = new Semaphore({
    ...{ atOnce: AT_ONCE, maxWaiting: MAX_WAITING },
    full: () => new Error(`${MAX_WAITING} calls wait for the folder already`),
  });
  let late = createLate();
  return (call) => {
    const { signal } = late;
    return new Promise((resolve, reject) => {
      const inTurn = async () => {
        const calling = call();
        await withinMs(deadlineMs, calling, () => {
          late.abort(new Error('the last call has not ended'));
          throw new Error(`no answer within ${deadlineMs} ms`);
        }).then(resolve, reject);
        await calling.catch(() => {});
        if (late.signal.aborted) late = createLate();
      };
      gate.run(inTurn, signal).catch(reject);
    });
  };
};

/** All waiting calls listen to its signal. */
const createLate = (): AbortController => {
  const late = new AbortController();
  setMaxListeners(MAX_WAITING, late.signal);
  return late;
};

interface Calls extends Omit<FenceStore, 'atOnce'> {
  /** False: the first `put` of the object was cut off, and left its folder without a state. */
  isPut(key: string): Promise<boolean>;
}

/** Each call takes one thread at a time. */
const callsBelow = (root: string): Calls => {
  const find = async (key: string): Promise<FenceObject | null> => {
    const folder = join(root, key);
    for (;;) {
      const latest = (await statesOf(folder)).at(-1);
      if (latest === undefined) return null;
      const text = await orNull(() => readFile(join(folder, String(latest)), 'utf8'));
      // If the file is gone, the state was replaced meanwhile.
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
      for (const state of now.slice(0, -KEPT_STATES)) await rm(join(folder, String(state)), { force: true });
      return true;
    },
    async list(folder) {
      const names = (await orNull(() => readdir(join(root, folder)))) ?? [];
      return names.map((name) => `${folder}/${name}`);
    },
    isPut: async (key) => (await statesOf(join(root, key))).length > 0,
  };
};

/** State numbers, ascending. */
const statesOf = async (folder: string): Promise<readonly number[]> => {
  const names = (await orNull(() => readdir(folder))) ?? [];
  return names
    .filter((name) => /^[1-9][0-9]*$/.test(name))
    .map(Number)
    .sort((a, b) => a - b);
};

/** False: another writer has placed that state. True: the state survives a crash of the machine. */
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
