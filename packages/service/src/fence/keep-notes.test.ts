/** Copies beside the fence: a record that cannot be copied, or that changes all the time, delays no other one. */
import { nativeCrypto } from '@svc/protocol/native';
import { describe, expect, it, vi } from 'vitest';
import { Semaphore } from '../lib/semaphore.ts';
import type { FenceNote, FenceRecordKind, FenceStore, LineageStore } from '../ports/fence.ts';
import { NoteKeeper, RECORD_FOLDERS } from './keep-notes.ts';

const keyOf = (kind: FenceRecordKind, name: string) =>
  `${RECORD_FOLDERS[kind]}/${nativeCrypto.sha256Hex(name)}`;

interface Noted extends FenceNote {
  readonly notedAtMs: number;
}

/** Notes in memory, with the behaviour of store-pg (lineage.test.ts). */
const createNotes = () => {
  const notes = new Map<string, Noted>();
  let last = 0;
  const add = (kind: FenceRecordKind, name: string, text: string | null = null) => {
    const key = keyOf(kind, name);
    const before = notes.get(key);
    last += 1;
    const version = (before?.version ?? 0) + 1;
    const { seq, notedAtMs } = before ?? { seq: last, notedAtMs: performance.now() };
    notes.set(key, { kind, name, version, seq, notedAtMs, listedAtMs: 0, text });
  };
  const all = () => [...notes.values()].sort((a, b) => a.seq - b.seq);
  const lineage: Omit<LineageStore, 'beat' | 'trust' | 'doubt' | 'onUnknown'> = {
    async describeNotes() {
      const oldest = Math.min(...all().map(({ notedAtMs }) => notedAtMs));
      const seqs = all().map(({ seq }) => seq);
      return {
        oldestAgeMs: notes.size === 0 ? 0 : performance.now() - oldest,
        lastSeq: Math.max(0, ...seqs),
      };
    },
    async listNotes(passed, upTo, limit) {
      const revoked = all().filter(({ kind, seq }) => kind === 'revoked' && seq > passed.revoked);
      const others = all().filter(
        ({ kind, seq }) => kind !== 'revoked' && seq > passed.others && seq <= upTo,
      );
      return [...revoked, ...others].slice(0, limit);
    },
    async forgetNotes(copied) {
      for (const { kind, name, version } of copied) {
        const note = notes.get(keyOf(kind, name));
        if (note?.version === version) notes.delete(keyOf(kind, name));
        else if (note !== undefined)
          notes.set(keyOf(kind, name), { ...note, seq: ++last, notedAtMs: performance.now() });
      }
    },
  };
  return { add, all, lineage };
};

const createFenceStore = () => {
  const objects = new Map<string, string>();
  const broken = new Map<string, () => Promise<never>>();
  const order: string[] = [];
  const fenceStore: FenceStore = {
    atOnce: 10,
    async find(key) {
      await broken.get(key)?.();
      const text = objects.get(key);
      return text === undefined ? null : { text, tag: text };
    },
    async put(key, text, tag) {
      if ((objects.get(key) ?? null) !== tag) return false;
      objects.set(key, text);
      order.push(key);
      return true;
    },
    list: async () => [...objects.keys()],
  };
  return { objects, broken, order, fenceStore };
};

const create = (open = (fenceStore: FenceStore) => fenceStore) => {
  const notes = createNotes();
  const away = createFenceStore();
  const log = { info: vi.fn(), warn: vi.fn(), error: vi.fn() };
  const store = { lineage: notes.lineage } as never;
  const keeper = new NoteKeeper({ store, crypto: nativeCrypto, log }, open(away.fenceStore));
  return { ...notes, ...away, keeper, log, pass: () => keeper.pass(new AbortController().signal) };
};

const refuse = () => Promise.reject(new Error('access denied'));

describe('a pass of NoteKeeper', () => {
  it('copies all records but one that fails, logs the failure once, and reports for how long it has waited', async () => {
    const { add, all, objects, broken, keeper, log, pass } = create();
    const names = Array.from({ length: 250 }, (_, i) => `did:web:${i}.example`);
    for (const name of names) add('name', name);
    broken.set(keyOf('name', names[3] as string), refuse);
    await pass();
    expect([objects.size, all().map(({ name }) => name)]).toEqual([249, [names[3]]]);
    expect(keeper.ageMs()).toBeGreaterThan(0);
    expect(keeper.failure()).toEqual({ key: keyOf('name', names[3] as string), error: 'access denied' });
    await pass();
    expect(log.error).toHaveBeenCalledOnce();
    broken.clear();
    await pass();
    expect([objects.size, keeper.ageMs(), keeper.failure()]).toEqual([250, 0, null]);
    expect(log.warn).toHaveBeenCalledExactlyOnceWith('fence.kept_again', {});
  });

  it('gives up an object that does not answer within 5 s', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const { add, objects, broken, pass, keeper } = create();
    for (const name of ['a', 'b', 'c']) add('name', name);
    broken.set(keyOf('name', 'a'), () => new Promise(() => {}));
    const passed = pass();
    await vi.advanceTimersByTimeAsync(5_000);
    await passed;
    vi.useRealTimers();
    expect([objects.size, keeper.failure()?.error]).toEqual([2, 'no answer within 5000 ms']);
  });

  it('gives each of 30 objects its 5 s, even if the store handles one call after another, of a second each', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const turns = new Semaphore({ atOnce: 1, maxWaiting: 20, full: () => new Error('too many wait') });
    const inTurn = <T>(call: () => Promise<T>): Promise<T> =>
      turns.run(async () => {
        await new Promise((resolve) => setTimeout(resolve, 1_000));
        return call();
      });
    const { add, objects, keeper, log, pass } = create((fenceStore) => ({
      atOnce: 1,
      find: (key) => inTurn(() => fenceStore.find(key)),
      put: (...object) => inTurn(() => fenceStore.put(...object)),
      list: (folder) => inTurn(() => fenceStore.list(folder)),
    }));
    for (let i = 0; i < 30; i++) add('name', `did:web:${i}.example`);
    const passed = pass();
    await vi.runAllTimersAsync();
    await passed;
    vi.useRealTimers();
    expect([objects.size, keeper.failure()]).toEqual([30, null]);
    expect(log.error).not.toHaveBeenCalled();
  });

  it('replaces a damaged object, but not a later one', async () => {
    const { add, objects, pass } = create();
    add('status-list', 'damaged', '{"version":2}');
    add('status-list', 'later', '{"version":2}');
    objects.set(keyOf('status-list', 'damaged'), '{"name":"dam');
    objects.set(keyOf('status-list', 'later'), '{"name":"later","kept":{"version":3}}');
    await pass();
    expect(objects.get(keyOf('status-list', 'damaged'))).toBe('{"name":"damaged","kept":{"version":2}}');
    expect(objects.get(keyOf('status-list', 'later'))).toContain('"version":3');
  });

  it('reaches a quiet record, and first a new revocation, although 300 status lists change at every look', async () => {
    const { add, order, fenceStore, lineage, objects, pass } = create();
    const busy = Array.from({ length: 300 }, (_, i) => `https://status.example/a${i}`);
    for (const url of busy) add('status-list', url);
    add('status-list', 'https://status.example/quiet');
    const { put } = fenceStore;
    fenceStore.put = async (key, text, tag) => {
      const isPut = await put(key, text, tag);
      const { name } = JSON.parse(text) as { name: string };
      if (busy.includes(name)) add('status-list', name, `{"version":${order.length}}`);
      return isPut;
    };
    const { listNotes } = lineage;
    let looks = 0;
    lineage.listNotes = (...given) => {
      looks += 1;
      if (looks === 2) add('revoked', 'key:stolen');
      if (looks > 10) throw new Error('the pass does not end');
      return listNotes(...given);
    };
    await pass();
    expect(objects.has(keyOf('status-list', 'https://status.example/quiet'))).toBe(true);
    expect(order.indexOf(keyOf('revoked', 'key:stolen'))).toBeLessThan(111);
    expect(order).toHaveLength(302);
  });

  it('lists fewer notes at a time if listing takes too long, and fails if listing always fails', async () => {
    const { add, lineage, objects, pass } = create();
    for (let i = 0; i < 150; i++) add('revoked', `unlisted:https://status.example/${i} 1`);
    const { listNotes } = lineage;
    lineage.listNotes = async (passed, upTo, limit) => {
      if (limit > 7) throw new Error('not within 700 ms');
      return listNotes(passed, upTo, limit);
    };
    await pass();
    expect(objects.size).toBe(150);
    lineage.listNotes = async () => {
      throw new Error('storage is away');
    };
    add('revoked', 'key:stolen');
    await expect(pass()).rejects.toThrow('storage is away');
  });
});
