/**
 * Compares the lineage of a database with the head of its fence: what is known, what continues it, and what must not
 * decide.
 */
import type { DidWeb } from '@svc/protocol';
import { type FenceStore, formatHead, HEAD_KEY, parseHead, resetFence, type ServiceDeps } from '@svc/service';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { beforeEach, describe, expect, it } from 'vitest';

const stores = withStores();
const nonce = (name: string) => name.padEnd(32, '0');
const beat = (head: [number, string] | null, next: string, store = stores.first) =>
  store.lineage.beat(head && { seq: head[0], nonce: nonce(head[1]) }, nonce(next));
/** Makes the next beat due. */
const pass = () => runSql(stores.url, `update fence_beats set at = at - interval '1 second'`);

beforeEach(() => runSql(stores.url, 'truncate fence_beats'));

describe('a lineage', () => {
  it('begins with a first fence, and continues from each head', async () => {
    expect(await beat(null, 'a')).toMatchObject({
      verdict: 'next',
      seq: 1,
      ageMs: 0,
      epoch: 0,
      quarantineMs: 0,
    });
    await pass();
    expect(await beat([1, 'a'], 'b')).toMatchObject({ verdict: 'next', seq: 2 });
    await pass();
    expect(await beat([2, 'b'], 'c', stores.second)).toMatchObject({ verdict: 'next', seq: 3 });
  });

  it('recognises its head and tells its age after another node has just made the next beat', async () => {
    await beat(null, 'a');
    await pass();
    await beat([1, 'a'], 'b');
    const known = await beat([1, 'a'], 'c', stores.second);
    expect(known).toMatchObject({ verdict: 'known', seq: 1 });
    expect(known.ageMs).toBeGreaterThanOrEqual(1_000);
  });

  it('continues after a beat that never reached the fence', async () => {
    await beat(null, 'a');
    await pass();
    await beat([1, 'a'], 'lost');
    await pass();
    expect(await beat([1, 'a'], 'c')).toMatchObject({ verdict: 'next', seq: 3 });
  });

  it.each([
    ['behind', 'lacks the head', [2, 'x']],
    ['diverged', 'has another beat in the place of the head', [1, 'x']],
    ['gone', 'had a fence where there is none', null],
  ] as const)('is %s when it %s, and makes no beat then', async (verdict, _, head) => {
    await beat(null, 'a');
    await pass();
    expect(await beat(head === null ? null : [...head], 'b')).toMatchObject({ verdict, seq: null });
    expect(await beat([1, 'a'], 'c')).toMatchObject({ verdict: 'next', seq: 2 });
  });

  it('is behind when it has no beat and there is a head', async () => {
    expect(await beat([7, 'x'], 'b')).toMatchObject({ verdict: 'behind' });
  });

  it('reports heads that are older than 50,000 beats as forgotten', async () => {
    await runSql(
      stores.url,
      `insert into fence_beats values (60000, '${nonce('z')}', now() - interval '1 minute')`,
    );
    expect(await beat([1, 'a'], 'b')).toMatchObject({ verdict: 'forgotten' });
  });

  it('gets one beat when two nodes beat at once', async () => {
    await beat(null, 'a');
    for (let round = 0; round < 10; round++) {
      await pass();
      const head: [number, string] = [1, 'a'];
      const both = await Promise.all([beat(head, `b${round}`), beat(head, `c${round}`, stores.second)]);
      expect(both.map(({ verdict }) => verdict).sort()).toEqual(['known', 'next']);
    }
  });
});

describe('a fence reset', () => {
  const DID = 'did:web:svc.example' as DidWeb;
  /** `head`: `seq` and name of the nonce; null: the fence has no head. `of`: DID of its service. */
  const createFence = (head: [number, string] | null, of = DID) => {
    const textOf = ([seq, name]: [number, string]) =>
      formatHead(of, { epoch: 0, seq, nonce: nonce(name), atMs: 0 });
    let tag = 0;
    let text = head && textOf(head);
    const fenceStore: FenceStore = {
      atOnce: 1,
      find: async () => (text === null ? null : { text, tag: String(tag) }),
      async put(_, next, former) {
        if (former !== (text === null ? null : String(tag))) return false;
        [text, tag] = [next, tag + 1];
        return true;
      },
      list: async () => [],
    };
    const findHead = (): [number, string] => {
      const found = parseHead(DID, text ?? '');
      if ('problem' in found) throw new Error(found.problem);
      return [found.seq, found.nonce];
    };
    const move = async (to: [number, string]) =>
      fenceStore.put(HEAD_KEY, textOf(to), (await fenceStore.find(HEAD_KEY))?.tag ?? null);
    return { fenceStore, findHead, move };
  };
  type Fence = ReturnType<typeof createFence>;
  const reset = ({ fenceStore }: Fence, store = stores.first, formers: readonly DidWeb[] = []) => {
    const random = { bytes: () => new Uint8Array(16).fill(7) };
    const identity = { did: DID, formers: formers.map((did) => ({ did })) };
    return resetFence({ store, random, identity } as unknown as ServiceDeps, fenceStore, 0);
  };
  /** Lets enough time pass for every service to have made a beat. */
  const passLong = () => runSql(stores.url, `update fence_beats set at = at - interval '1 minute'`);
  /** `begin` runs before the transaction of the reset. */
  const beginBeside = (begin: () => Promise<unknown>) =>
    Object.assign(Object.create(stores.first) as typeof stores.first, {
      async transaction(...parameters: Parameters<typeof stores.first.transaction>) {
        await begin();
        return stores.first.transaction(...parameters);
      },
    });

  it.each([
    ['is known', [1, 'a']],
    ['is gone', null],
    ['is older than the lineage', [0, 'x']],
  ] as [string, [number, string] | null][])(
    'writes a head that continues the lineage when the former head %s',
    async (_, head) => {
      await beat(null, 'a');
      await passLong();
      const fence = createFence(head);
      expect(await reset(fence)).toMatchObject({ head: { seq: 2 } });
      await pass();
      expect(await beat(fence.findHead(), 'c')).toMatchObject({ verdict: 'next', seq: 3 });
    },
  );

  it('leaves the fence to a service that began to work meanwhile, and loses none of its beats', async () => {
    await beat(null, 'a');
    await passLong();
    const fence = createFence([1, 'a']);
    const store = beginBeside(async () => {
      expect(await beat([1, 'a'], 'b')).toMatchObject({ verdict: 'next', seq: 2 });
      expect(await fence.move([2, 'b'])).toBe(true);
    });
    await expect(reset(fence, store)).rejects.toThrow('the fence moved meanwhile');
    await pass();
    expect(await beat(fence.findHead(), 'c')).toMatchObject({ verdict: 'next', seq: 4 });
  });

  it("in a place that the service does not use leaves the service's own fence valid", async () => {
    await beat(null, 'a');
    await passLong();
    const [own, elsewhere] = [createFence([1, 'a']), createFence(null)];
    const store = beginBeside(async () => {
      await beat([1, 'a'], 'b');
      await own.move([2, 'b']);
    });
    expect(await reset(elsewhere, store)).toMatchObject({ head: { seq: 3 } });
    await pass();
    for (const fence of [own, elsewhere])
      expect((await beat(fence.findHead(), fence === own ? 'c' : 'd')).verdict).toMatch(/^(next|known)$/);
  });

  it('replaces the fence of a former DID, and refuses to replace that of another deployment', async () => {
    const other = 'did:web:other.example' as DidWeb;
    await beat(null, 'a');
    await passLong();
    const fence = createFence([1, 'a'], other);
    const before = await fence.fenceStore.find(HEAD_KEY);
    expect(await reset(fence)).toEqual({ problem: expect.stringContaining(`the fence is that of ${other}`) });
    expect(await fence.fenceStore.find(HEAD_KEY)).toEqual(before);
    expect(await reset(fence, stores.first, [other])).toMatchObject({ head: { seq: 2 } });
    expect(fence.findHead()[0]).toBe(2);
  });

  it('is refused for a copy of the database under another DID, which lacks the head of the fence', async () => {
    const other = 'did:web:other.example' as DidWeb;
    await beat(null, 'a');
    await passLong();
    const fence = createFence([7, 'x'], other);
    const before = await fence.fenceStore.find(HEAD_KEY);
    const answer = await reset(fence, stores.first, [other]);
    expect(answer).toEqual({ problem: expect.stringMatching(`${other}.*lacks.*name another place`) });
    expect(answer).not.toHaveProperty('problem', expect.stringContaining('move the fence away'));
    expect(await fence.fenceStore.find(HEAD_KEY)).toEqual(before);
  });

  it('replaces text that is not a head', async () => {
    await beat(null, 'a');
    await passLong();
    const fence = createFence(null);
    await fence.fenceStore.put(HEAD_KEY, '{', null);
    expect(await reset(fence)).toMatchObject({ head: { seq: 2 } });
    expect(fence.findHead()[0]).toBe(2);
  });

  it.each([
    ['the named fence', [1, 'a']],
    ['another fence', null],
  ] as [string, [number, string] | null][])(
    'is refused while a service is at work on %s',
    async (_, head) => {
      await beat(null, 'a');
      const fence = createFence(head);
      const before = await fence.fenceStore.find(HEAD_KEY);
      expect(await reset(fence)).toMatchObject({ problem: expect.stringContaining('a service is at work') });
      expect(await fence.fenceStore.find(HEAD_KEY)).toEqual(before);
      expect((await stores.first.restores.findLast()).seq).toBe(1);
    },
  );
});

describe('notes', () => {
  const FROM_START = { revoked: 0, others: 0 };
  const LAST = Number.MAX_SAFE_INTEGER;
  const note = (kind: string, name: string) => runSql(stores.url, `select svc_note('${kind}', '${name}')`);
  const list = (passed = FROM_START, upTo = LAST, limit = 10) =>
    stores.first.lineage.listNotes(passed, upTo, limit);
  const namesOf = (notes: readonly { name: string }[]) => notes.map(({ name }) => name);

  beforeEach(() => runSql(stores.url, 'truncate fence_notes'));

  it('on a subject that changes while it is copied are kept', async () => {
    await note('name', 'did:web:a.example');
    const listed = await list();
    const nobody = '{"principal" : null, "relying_party" : null, "version" : ';
    expect(listed).toMatchObject([
      { kind: 'name', name: 'did:web:a.example', text: expect.stringContaining(nobody) },
    ]);
    await note('name', 'did:web:a.example');
    await stores.first.lineage.forgetNotes(listed);
    const again = await list();
    expect(again[0]?.version).toBeGreaterThan(listed[0]?.version ?? Number.NaN);
    await stores.first.lineage.forgetNotes(again);
    expect(await list()).toEqual([]);
  });

  it('are listed by age with revocations first; a repeated change keeps the place of its note', async () => {
    for (const name of ['z', 'y', 'a']) await note('name', name);
    for (let change = 0; change < 3; change++) await note('name', 'z');
    for (const name of ['key:2', 'key:1']) await note('revoked', name);
    expect(namesOf(await list())).toEqual(['key:2', 'key:1', 'z', 'y', 'a']);
    const [first] = await list();
    expect(namesOf(await list({ revoked: first?.seq ?? 0, others: 0 }))).toEqual(['key:1', 'z', 'y', 'a']);
  });

  it('that change between copies move behind the others, and only uncopied changes count for the age', async () => {
    for (const name of ['busy', 'quiet']) await note('status-list', name);
    await runSql(stores.url, `update fence_notes set noted_at = noted_at - interval '1 hour'`);
    const [busy, quiet] = await list();
    if (busy === undefined || quiet === undefined) throw new Error('two notes');
    await note('status-list', 'busy');
    await stores.first.lineage.forgetNotes([busy]);
    expect(namesOf(await list())).toEqual(['quiet', 'busy']);
    expect((await stores.first.lineage.describeNotes()).oldestAgeMs).toBeGreaterThanOrEqual(3_600_000);
    await stores.first.lineage.forgetNotes([quiet]);
    const { oldestAgeMs } = await stores.first.lineage.describeNotes();
    expect([oldestAgeMs >= 0, oldestAgeMs < 600_000]).toEqual([true, true]);
  });

  it('that are added after a walk began are left for the next walk, except revocations', async () => {
    await note('name', 'a');
    const { lastSeq } = await stores.first.lineage.describeNotes();
    await note('name', 'b');
    await note('revoked', 'key:1');
    expect(namesOf(await list(FROM_START, lastSeq))).toEqual(['key:1', 'a']);
  });
});
