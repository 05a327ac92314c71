import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { UsageError } from '@svc/cli/command-line';
import { openObjects } from '@svc/object-store';
import { withDatabase } from '@svc/testkit';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, expect, it, vi } from 'vitest';
import { ledgerDropCommand, ledgerPackCommand, ledgerUnpackCommand, ledgerVerifyCommand } from './ledger.ts';
import { ledgerStatusCommand } from './ledger-status.ts';
import { restoreCommand } from './restore.ts';

const database = withDatabase();
const folder = mkdtempSync(join(tmpdir(), 'svc-admin-ledger-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('in production ledger pack and drop are refused unless the numbers of days of the worker are set', async () => {
  const production = { SVC_ENV: 'production', SVC_HOT_DAYS: '365' };
  for (const run of [
    () => ledgerPackCommand.run({}, production, ''),
    () => ledgerDropCommand.run({}, production, ''),
  ]) {
    await expect(run()).rejects.toThrow(UsageError);
    await expect(run()).rejects.toThrow(/^SVC_COLD_GRACE_DAYS must be set to what the worker has/);
  }
  await expect(ledgerPackCommand.run({}, { SVC_ENV: 'production' }, '')).rejects.toThrow(
    /^SVC_HOT_DAYS and SVC_COLD_GRACE_DAYS must be set/,
  );
});

it('commands on cold days or a restore neither open nor record a key that they do not sign with', async () => {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  const cold = pathToFileURL(join(folder, 'cold')).href;
  mkdirSync(join(folder, 'cold'));
  await openObjects(cold, null);
  const env = {
    ...{ DATABASE_URL: database.url, SVC_DATA_DIR: join(folder, 'data'), SVC_FENCE: 'none' },
    ...{ SVC_COLD: cold, SVC_RECEIPT_KEYS: join(folder, 'away.json') },
  };
  const away = { ...env, SVC_STATUS_KEYS: join(folder, 'away-too.json') };
  const listKids = async () => {
    const rows = await runSql<{ kid: string }>(database.url, 'select kid from service_keys order by kid');
    return rows.map(({ kid }) => kid.split('#')[1]);
  };
  const lost = { 'lost-from': new Date(Date.now() - 60_000).toISOString() };
  expect(await ledgerStatusCommand.run({}, away, '')).toBe(0);
  expect(await ledgerVerifyCommand.run({}, away, '')).toBe(0);
  expect(await ledgerDropCommand.run({}, away, '')).toBe(0);
  await expect(ledgerUnpackCommand.run({}, away, '2026-01-31')).rejects.toThrow('2026-01-31');
  expect(await restoreCommand.run(lost, away, '')).toBe(1);
  expect(await listKids()).toEqual([]);
  await expect(ledgerPackCommand.run({}, away, '')).rejects.toThrow('SVC_STATUS_KEYS');
  expect(await ledgerPackCommand.run({}, env, '')).toBe(0);
  expect(await restoreCommand.run({ ...lost, apply: true }, env, '')).toBe(0);
  expect(await listKids()).toEqual(['status-1']);
  vi.restoreAllMocks();
});
