/**
 * A loss of the database and the fence (protocol §10, docs/operations.md): `svc-admin restore --lost-from` corrects the
 * database from the log alone. A copy of the database is the backup, and the log of a node has the revocation that came
 * after it.
 */
import { cpSync, mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { withDatabase } from '@svc/testkit';
import { createDatabase, type DroppableDatabase } from '@svc/testkit/database';
import { runSql } from '@svc/testkit/store/session';
import { afterEach, beforeAll, expect, inject, it } from 'vitest';
import { type ApiNode, startApiNodes } from '../world/api-node.ts';
import { createFence, readiness, svcAdmin, untilKept } from '../world/fence.ts';
import {
  call,
  createTenants,
  type HeldGrant,
  issueGrant,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

type Environment = Readonly<Record<string, string>>;

const database = withDatabase();
const fence = createFence();
/** The fence as it was when the backup was made; no process uses it. */
const fenceThen = createFence();
const nothing = createFence();
/** A folder for logs and copies of fences. */
const { folder: scratch } = createFence();
const NO_FENCE = { SVC_FENCE: 'none' };

let backup: DroppableDatabase;
let tenants: Tenants;
let revoked: HeldGrant;
let other: HeldGrant;
/** The log between the backup and the loss. */
let log: readonly string[];
/** The log lines that `svc-admin pause` printed in that time, beside its standard output. */
let pauseLines: readonly string[];
let takenAt: string;
const restored: DroppableDatabase[] = [];

const withNode = async <T>(
  url: string,
  env: Environment,
  work: (node: ApiNode) => Promise<T>,
): Promise<T> => {
  const api = await startApiNodes(1, url, env);
  try {
    return await work(api.processes[0] as ApiNode);
  } finally {
    await api.stop();
  }
};

beforeAll(async () => {
  tenants = await withNode(database.url, fence.env, async ({ baseUrl }) => {
    const made = await createTenants(baseUrl);
    [revoked, other] = [await issueGrant(made), await issueGrant(made)];
    await untilKept({ query: async (text) => ({ rowCount: (await runSql(database.url, text)).length }) });
    return made;
  });
  takenAt = new Date().toISOString();
  backup = await createDatabase(inject('databaseAdminUrl'), database.url);
  cpSync(fence.folder, fenceThen.folder, { recursive: true });
  log = await withNode(database.url, fence.env, async ({ baseUrl, log: lines }) => {
    const body = { grant_id: revoked.grantId };
    expect((await call(baseUrl, 'POST', '/revoke', { key: tenants.principalKey, body })).status).toBe(200);
    return [...lines];
  });
  const paused = await svcAdmin(database.url, fence.env, 'pause', '--reason', 'a leak');
  pauseLines = paused.text.split('\n').filter((line) => line.startsWith('{'));
  return () => backup.drop();
}, 120_000);
afterEach(async () => {
  for (const one of restored.splice(0)) await one.drop();
});

const restoreBackup = async (): Promise<string> => {
  const one = await createDatabase(inject('databaseAdminUrl'), backup.url);
  restored.push(one);
  return one.url;
};

const restoreFence = (): Environment => {
  const folder = mkdtempSync(join(scratch, 'fence-'));
  cpSync(fenceThen.folder, folder, { recursive: true });
  return { ...fenceThen.env, SVC_FENCE: pathToFileURL(folder).href };
};

/** Writes the log as a file, in Docker's format. */
const writeLog = (name = 'api-1.log', text = log.map(inDocker).join('\n')): string => {
  const file = join(mkdtempSync(join(scratch, 'log-')), name);
  writeFileSync(file, name.endsWith('.gz') ? gzipSync(text) : text);
  return file;
};
const inDocker = (line: string) => JSON.stringify({ log: line, stream: 'stdout', time: takenAt });

const isRevoked = async (url: string, { grantId }: HeldGrant): Promise<boolean> => {
  const text = 'select revoked_at is not null as "isRevoked" from grants where id = $1';
  const [row] = await runSql<{ isRevoked: boolean }>(url, text, [grantId]);
  return row?.isRevoked ?? expect.unreachable();
};

/** Restores by the log, where `--lost-from` gives the beginning. */
const restoreAll = async (url: string, env: Environment, file: string) => {
  const all = ['restore', '--log', file, '--lost-from', takenAt];
  const looked = await svcAdmin(url, env, ...all);
  expect(looked).toMatchObject({ code: 1, text: expect.stringContaining('Nothing was changed.') });
  expect(await isRevoked(url, revoked)).toBe(false);
  const applied = await svcAdmin(url, env, ...all, '--apply');
  expect(applied.text).toMatch(/: \d+ lines of the service, 1 of them revocations\./);
  expect(applied.text).toContain('In the log: 1 revoked Grants');
  expect(applied.text).toContain('revoked again   1 Grants');
  expect(applied.text).toContain(other.grantId);
  expect(applied.code).toBe(0);
  expect([await isRevoked(url, revoked), await isRevoked(url, other)]).toEqual([true, false]);
  const again = await svcAdmin(url, env, 'restore', '--log', file);
  expect(again).toMatchObject({
    code: 0,
    text: expect.stringContaining('This database has everything that the log says'),
  });
  await withNode(url, env, async ({ baseUrl }) => {
    const body = await verifyBody(tenants, other);
    expect((await call(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body })).status).toBe(503);
  });
};

it('a database set back with its fence is not detected, but svc-admin restore --log shows and corrects it', async () => {
  const [url, env] = [await restoreBackup(), restoreFence()];
  const file = writeLog();
  await withNode(url, env, async (node) => {
    expect(await readiness(node)).toMatchObject({ status: 200, checks: { fence: 'ok' } });
  });
  const compared = await svcAdmin(url, env, 'restore', '--log', file);
  expect(compared).toMatchObject({ code: 1, text: expect.stringContaining(`  grant:${revoked.grantId}`) });
  expect(compared.text).not.toContain(other.grantId);
  expect(await isRevoked(url, revoked)).toBe(false);
  await restoreAll(url, env, file);
  await withNode(url, env, async (node) => {
    expect((await readiness(node)).checks.fence).toContain('is settling');
  });
}, 180_000);

it('restore --log --apply without --lost-from revokes again what the log says, and mentions --lost-from', async () => {
  const url = await restoreBackup();
  const env = restoreFence();
  const applied = await svcAdmin(url, env, 'restore', '--log', writeLog('api-1.log.gz'), '--apply');
  expect(applied).toMatchObject({
    code: 0,
    text: expect.stringContaining('Revoked or ended again: 1 Grants'),
  });
  expect(applied.text).toContain('--lost-from');
  expect([await isRevoked(url, revoked), await isRevoked(url, other)]).toEqual([true, false]);
}, 120_000);

it('with a lost fence, restore requires --lost-from, and then restores as usual', async () => {
  const url = await restoreBackup();
  const file = writeLog('api-1.log.gz');
  const refused = await svcAdmin(url, nothing.env, 'restore', '--log', file, '--apply');
  expect(refused).toMatchObject({ code: 2, text: expect.stringContaining('--lost-from') });
  await restoreAll(url, nothing.env, file);
  expect(await svcAdmin(url, nothing.env, 'fence', 'show')).toMatchObject({ code: 0 });
}, 180_000);

it('without a fence, restore requires fence give-up and --lost-from, and then restores as usual', async () => {
  const url = await restoreBackup();
  const refused = await svcAdmin(url, NO_FENCE, 'restore', '--lost-from', takenAt, '--apply');
  expect(refused).toMatchObject({ code: 2, text: expect.stringContaining('this database has a fence') });
  await svcAdmin(url, NO_FENCE, 'fence', 'give-up', '--database-is-the-latest');
  expect(await svcAdmin(url, NO_FENCE, 'restore')).toMatchObject({ code: 2 });
  await restoreAll(url, NO_FENCE, writeLog());
}, 180_000);

it('restore sets a service pause again from the line that svc-admin pause printed; without it the output mentions svc-admin pause', async () => {
  const url = await restoreBackup();
  await svcAdmin(url, NO_FENCE, 'fence', 'give-up', '--database-is-the-latest');
  const says = expect.stringContaining('If it was paused in the lost span, run svc-admin pause');
  const all = ['--lost-from', takenAt, '--apply'];
  const without = await svcAdmin(url, NO_FENCE, 'restore', '--log', writeLog(), ...all);
  expect(without).toMatchObject({ code: 0, text: says });
  expect(await svcAdmin(url, NO_FENCE, 'pause', 'show')).toMatchObject({ code: 0 });
  const printed = writeLog('operator.log', pauseLines.join('\n'));
  const again = await svcAdmin(url, NO_FENCE, 'restore', '--log', writeLog(), '--log', printed, ...all);
  expect(again).toMatchObject({ code: 0, text: expect.stringMatching(/ended again .* 1 pauses/) });
  expect(again.text).toContain('The whole service is paused');
  expect(await svcAdmin(url, NO_FENCE, 'pause', 'show')).toMatchObject({
    code: 1,
    text: expect.stringContaining(': a leak'),
  });
}, 180_000);

it('restore refuses a file that is not a log of the service or has a truncated revocation, and names it', async () => {
  const url = await restoreBackup();
  const lines = log.map(inDocker);
  const cut = lines.map((line) => (line.includes('grant_ids') ? line.slice(0, -60) : line));
  for (const [file, problem] of [
    [writeLog('cut.log', cut.join('\n')), 'has a revocation that is cut off'],
    [writeLog('other.log', 'starting\n'), 'has no line of the service’s log'],
    [
      writeLog('zipped.log', gzipSync(lines.join('\n')).toString('latin1')),
      'has no line of the service’s log',
    ],
  ] as const)
    expect(
      await svcAdmin(url, fenceThen.env, 'restore', '--log', file, '--lost-from', takenAt, '--apply'),
    ).toEqual({
      code: 2,
      text: expect.stringMatching(new RegExp(`${file}.*${problem}`)),
    });
  expect(await isRevoked(url, revoked)).toBe(false);
}, 120_000);
