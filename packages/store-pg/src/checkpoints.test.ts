import { createHash, generateKeyPairSync, sign } from 'node:crypto';
import { emptyRoot, formatHash, hashLeaf, MerkleTree, parseHash, verifyInclusion } from '@svc/merkle';
import type { DidWeb, ReceiptId } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import {
  checkContent,
  closeDays,
  getInclusion,
  Holds,
  listLeaves,
  type ServiceDeps,
  StoreError,
} from '@svc/service';
import { awayFromMidnight, daysAgo, insertReceipts, moveFirstDay, receiptIdsOf, tamper } from '@svc/testkit';
import { sampleOf } from '@svc/testkit/sampled';
import { withStores } from '@svc/testkit/store/open-store';
import { runSql } from '@svc/testkit/store/session';
import { dayAfter } from '@svc/transparency';
import { beforeAll, describe, expect, it } from 'vitest';

await awayFromMidnight();
const stores = withStores();
const { privateKey } = generateKeyPairSync('ed25519');
const sizes = [0, 1, 300, 256, 257, 0];
const days = sizes.map((_, i) => daysAgo(sizes.length - i));
const log = { info: () => {}, warn: () => {}, error: () => {} };
const leaves = new Map<string, ReceiptId[]>();

const deps = (store = stores.first) =>
  ({
    store,
    clock: { nowMs: () => Date.now(), resync: async () => {} },
    crypto: nativeCrypto,
    identity: {
      did: 'did:web:svc.example' as DidWeb,
      statusKeys: {
        signer: {
          kid: 'did:web:svc.example#status-1',
          sign: (bytes: Uint8Array) => new Uint8Array(sign(null, bytes, privateKey)),
        },
      },
    },
    log,
    holds: new Holds(log),
  }) as unknown as ServiceDeps;

const rootOf = (ids: readonly string[]) =>
  `sha256:${formatHash(ids.length === 0 ? emptyRoot() : new MerkleTree(ids.map((id) => hashLeaf(id))).root)}`;

beforeAll(async () => {
  await moveFirstDay(stores.url, days[0] ?? '');
  for (const [i, day] of days.entries()) {
    const ids = receiptIdsOf(day, sizes[i] ?? 0);
    leaves.set(day, ids);
    await insertReceipts(stores.url, ids, [day]);
  }
});

describe('closing days', () => {
  it('two concurrent closers close each ended day once, in a chain, also after one that was cut off', async () => {
    expect(await stores.first.checkpoints.closeDay(days[0] ?? '')).toBe(true);
    const [a, b] = await Promise.all([closeDays(deps(stores.first)), closeDays(deps(stores.second))]);
    expect([...a.closed, ...b.closed].sort()).toEqual(days);
    expect([a.latest, b.latest]).toContain(days.at(-1));
    expect(await closeDays(deps())).toEqual({ closed: [], latest: days.at(-1) });

    const published = await stores.first.checkpoints.list(null, 100);
    expect(published.map(({ day }) => day)).toEqual(days);
    for (const [i, checkpoint] of published.entries()) {
      const ids = leaves.get(checkpoint.day) ?? [];
      expect(checkpoint).toMatchObject({
        treeSize: ids.length,
        root: rootOf(ids),
        previousRoot: published[i - 1]?.root ?? null,
        firstReceiptId: ids[0] ?? null,
        lastReceiptId: ids.at(-1) ?? null,
      });
      const contents = ids.map((id) => hashLeaf(createHash('sha256').update(`jws of ${id}`).digest()));
      const contentRoot = contents.length === 0 ? emptyRoot() : new MerkleTree(contents).root;
      expect(checkpoint.contentRoot).toBe(`sha256:${formatHash(contentRoot)}`);
      const payload = JSON.parse(Buffer.from(checkpoint.jws.split('.')[1] ?? '', 'base64url').toString());
      expect(payload).toMatchObject({ day: checkpoint.day, root: checkpoint.root, tree_size: ids.length });
    }
  });

  it('today stays open', async () => {
    expect(await stores.first.checkpoints.closeDay(daysAgo(0))).toBe(false);
  });

  it('a checkpoint that does not follow the latest one is refused, and published checkpoints are append-only', async () => {
    const latest = await stores.first.checkpoints.findLatest();
    if (latest === null) throw new Error('no checkpoint');
    const day = dayAfter(latest.day);
    await runSql(stores.url, 'insert into closed_days (day) values ($1)', [day]);
    const forged = { ...latest, day, previousRoot: `sha256:${'0'.repeat(64)}` as typeof latest.root };
    await expect(stores.first.checkpoints.insert(forged, [])).rejects.toMatchObject({ kind: 'conflict' });
    await expect(
      stores.first.checkpoints.insert({ ...forged, previousRoot: null }, []),
    ).rejects.toMatchObject({
      kind: 'conflict',
    });
    for (const table of ['checkpoints', 'merkle_tiles', 'deployment'])
      for (const change of [`delete from ${table}`, `truncate ${table} cascade`])
        await expect(runSql(stores.url, change)).rejects.toThrow(/append-only/);
    await expect(runSql(stores.url, `update checkpoints set root = 'x'`)).rejects.toThrow(/append-only/);
  });
});

describe('inclusion proofs', () => {
  it('each Receipt of every closed day is proven to be in it, at its index', async () => {
    for (const [day, ids] of leaves) {
      for (const [index, receiptId] of sampleOf([...ids.entries()], 40)) {
        const answer = await getInclusion(deps(), receiptId);
        if (answer.kind !== 'proven') throw new Error(`${receiptId} is ${answer.kind}`);
        const hash = (hex: string) => parseHash(hex) ?? new Uint8Array(0);
        expect([answer.checkpoint.day, answer.leafIndex, answer.leaf]).toEqual([
          day,
          index,
          formatHash(hashLeaf(receiptId)),
        ]);
        const inclusion = {
          leafHash: hash(answer.leaf),
          index,
          size: ids.length,
          path: answer.auditPath.map(hash),
        };
        expect(verifyInclusion(inclusion, hash(answer.checkpoint.root.slice(7)))).toBe(true);
      }
    }
  });

  it('a Receipt of an open day is pending, and one that does not exist is NOT_FOUND', async () => {
    const [today] = receiptIdsOf(daysAgo(0), 1);
    if (today === undefined) throw new Error('no id');
    await expect(getInclusion(deps(), today)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    await insertReceipts(stores.url, [today], [daysAgo(0)]);
    expect(await getInclusion(deps(), today)).toEqual({ kind: 'pending', day: daysAgo(0) });
  });

  it('a Receipt that was inserted into a closed day is never proven', async () => {
    const day = days[2] ?? '';
    const [late] = receiptIdsOf(day, 3).slice(1);
    if (late === undefined) throw new Error('no id');
    await insertReceipts(stores.url, [late], [day]);
    await expect(getInclusion(deps(), late)).rejects.toMatchObject({ code: 'INTERNAL' });
  });
});

describe('checking stored contents', () => {
  const never = new AbortController().signal;
  const check = async () => {
    const events: unknown[] = [];
    const log = {
      info: () => {},
      warn: () => {},
      error: (event: string, fields: object) => events.push({ event, ...fields }),
    };
    await runSql(stores.url, 'delete from content_checks');
    const result = await checkContent({ ...deps(), log }, never);
    return { result, events, broken: await stores.first.checkpoints.listBroken() };
  };
  const [whole, altered, shortened] = [days[1] ?? '', days[3] ?? '', days[4] ?? ''];

  it('finds the days with a changed byte, a missing Receipt or an added Receipt, and no others', async () => {
    const victim = leaves.get(altered)?.[100];
    await tamper(stores.url, `update receipts set jws = 'Jws' || substr(jws, 4) where receipt_id = $1`, [
      victim,
    ]);
    await tamper(stores.url, 'delete from receipts where receipt_id = $1', [leaves.get(shortened)?.at(-1)]);
    const { result, events, broken } = await check();
    // days[2] has the receipt that was added above.
    expect(broken).toEqual([days[2], altered, shortened]);
    expect(result).toEqual({ checked: days.length, broken: 3 });
    expect(events).toHaveLength(3);
    expect(broken).not.toContain(whole);
  });

  it('reads a day once in 24 hours', async () => {
    expect(await checkContent(deps(), never)).toEqual({ checked: 0, broken: 0 });
    await runSql(
      stores.url,
      `update content_checks set checked_at = checked_at - interval '24 hours 1 second' where day = $1`,
      [whole],
    );
    const ageHours =
      Date.now() / 3_600_000 - ((await stores.first.checkpoints.oldestCheckMs()) ?? 0) / 3_600_000;
    expect(Math.floor(ageHours)).toBe(24);
    expect(await checkContent(deps(), never)).toEqual({ checked: 1, broken: 0 });
    expect(Date.now() - ((await stores.first.checkpoints.oldestCheckMs()) ?? 0)).toBeLessThan(3_600_000);
  });

  it('counts the age of a day that was never read from its closing', async () => {
    await runSql(stores.url, 'delete from content_checks where day = $1', [whole]);
    const published = await stores.first.checkpoints.find(whole);
    const others = `update content_checks set checked_at = clock_timestamp()`;
    await runSql(stores.url, others);
    expect(await stores.first.checkpoints.oldestCheckMs()).toBe(published?.createdAtMs);
    await checkContent(deps(), never);
  });

  it('goes on past a day that cannot be read, names it in the log, and rejects at the end', async () => {
    await runSql(stores.url, 'delete from content_checks');
    const [unreadable] = days;
    const { checkpoints } = stores.first;
    const reading: typeof checkpoints = {
      ...checkpoints,
      async listLeavesAgain(...[day, ...rest]: Parameters<typeof checkpoints.listLeavesAgain>) {
        if (day === unreadable) throw new StoreError('refused', 'no such page');
        return checkpoints.listLeavesAgain(day, ...rest);
      },
    };
    const store = { ...stores.first, checkpoints: reading };
    const failed: { event: string; day: string }[] = [];
    const log = {
      info: () => {},
      warn: () => {},
      error: (event: string, { day }: { day: string }) => failed.push({ event, day }),
    };
    await expect(checkContent({ ...deps(), store, log }, never)).rejects.toThrow(
      '1 closed days could not be read: no such page',
    );
    expect(failed.filter(({ event }) => event === 'content.not_read')).toEqual([
      { event: 'content.not_read', day: unreadable },
    ]);
    const checked = await runSql<{ day: string }>(
      stores.url,
      'select day::text as day from content_checks order by content_checks.day',
    );
    expect(checked.map(({ day }) => day)).toEqual(days.slice(1));
    expect(await checkContent(deps(), never)).toEqual({ checked: 1, broken: 0 });
  });

  it('no longer lists a day as broken once it is mended', async () => {
    const victim = leaves.get(altered)?.[100];
    await tamper(stores.url, `update receipts set jws = 'jws' || substr(jws, 4) where receipt_id = $1`, [
      victim,
    ]);
    expect((await check()).broken).toEqual([days[2], shortened]);
  });
});

describe('a day that a restore put back without some of its Receipts', () => {
  const day = daysAgo(0);

  it('refuses inclusion proofs with NOT_FOUND, lists the remaining leaves, and logs no mismatch', async () => {
    const { first } = stores;
    await insertReceipts(stores.url, receiptIdsOf(day, 2), [day]);
    const kept = await first.checkpoints.listReceiptIds(day, null, 10);
    const all = [...kept, ...receiptIdsOf(day, 300)].sort();
    const latest = await first.checkpoints.findLatest();
    if (latest === null) throw new Error('no checkpoint');
    const ends = { firstReceiptId: all[0] ?? null, lastReceiptId: all.at(-1) ?? null };
    const former = { ...latest, day, treeSize: all.length, root: rootOf(all) as typeof latest.root, ...ends };
    const span = { lostFromMs: 1_000, lostUntilMs: 2_000, quarantinedUntilMs: 3_000 };
    await first.transaction((tx) => tx.restores.reinstate({ ...former, previousRoot: latest.root }));
    const errors: string[] = [];
    const asked = { ...deps(), log: { ...log, error: (event: string) => errors.push(event) } };
    // Before the restore is recorded the day is treated like any other.
    await expect(getInclusion(asked, kept[0] as ReceiptId)).rejects.toMatchObject({ code: 'INTERNAL' });
    expect(errors).toEqual(['checkpoint.mismatch']);
    await first.transaction((tx) =>
      tx.restores.insert({
        epoch: 1,
        ...span,
        reinstatedDays: [day],
        leastListNumber: 1,
        statement: 'signed',
      }),
    );
    for (const receiptId of kept)
      await expect(getInclusion(asked, receiptId)).rejects.toMatchObject({
        code: 'NOT_FOUND',
        message: expect.stringContaining('GET /restores'),
      });
    expect(errors).toEqual(['checkpoint.mismatch']);
    const { text } = await listLeaves(asked, day);
    let listed = '';
    for await (const part of text) listed += part;
    expect(listed).toBe(kept.map((id) => `${formatHash(hashLeaf(id))}\n`).join(''));
  });
});
