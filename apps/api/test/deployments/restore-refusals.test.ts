/** `svc-admin restore` without `--apply` says what `--apply` would refuse (docs/operations.md, Restoring). */
import { nativeCrypto } from '@svc/protocol/native';
import { HEAD_KEY } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { runSql } from '@svc/testkit/store/session';
import { beforeAll, expect, it } from 'vitest';
import { startApiNodes } from '../world/api-node.ts';
import { createFence, svcAdmin, untilKept } from '../world/fence.ts';

const database = withDatabase();
const fence = createFence();
const LIST = 'https://svc.example/status-lists/claimed/1';
const KEY = `status-lists/${nativeCrypto.sha256Hex(LIST)}`;
const REFUSAL = `the list ${LIST} beside the fence: not three parts. Put the key file back`;

const replace = async (key: string, change: (text: string) => string) => {
  const { text = '', tag = null } = (await fence.fenceStore.find(key)) ?? {};
  expect(await fence.fenceStore.put(key, change(text), tag)).toBe(true);
};
const restore = (...more: readonly string[]) => svcAdmin(database.url, fence.env, 'restore', ...more);

beforeAll(async () => {
  const api = await startApiNodes(1, database.url, fence.env);
  // What is left of the list of a claim that was released before the list was copied.
  await runSql(database.url, `select svc_note('status-list', $1)`, [LIST]);
  await untilKept({ query: async (text) => ({ rowCount: (await runSql(database.url, text)).length }) });
  await api.stop();
  expect((await fence.fenceStore.find(KEY))?.text).toBe(`{"name":"${LIST}","kept":null}`);
  await replace(HEAD_KEY, (text) => {
    const head = JSON.parse(text) as { seq: number };
    return JSON.stringify({ ...head, seq: head.seq + 50, nonce: 'f'.repeat(32) });
  });
}, 60_000);

it('a damaged list beside the fence is named by the dry run, and refused by --apply', async () => {
  await replace(KEY, () => JSON.stringify({ name: LIST, kept: { version: 1 } }));
  const described = await restore();
  expect([described.code, described.text]).toEqual([
    1,
    expect.stringContaining(`--apply would refuse: ${REFUSAL}`),
  ]);
  const applied = await restore('--apply');
  expect([applied.code, applied.text]).toEqual([2, expect.stringContaining(REFUSAL)]);
  await replace(KEY, () => JSON.stringify({ name: LIST, kept: null }));
}, 60_000);

it('the list of a claim that was released before its copy stops no restore', async () => {
  const described = await restore();
  expect([described.code, described.text]).toEqual([1, expect.stringContaining('Kept beside the fence:')]);
  expect(described.text).not.toContain('refuse');
  expect(await restore('--apply')).toMatchObject({ code: 0 });
}, 60_000);
