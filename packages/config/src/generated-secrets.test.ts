import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { parseConfig } from './parse-config.ts';
import { loadSecrets } from './secrets.ts';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const load = (dataDir: string) => {
  const parsed = parseConfig({ SVC_DATA_DIR: dataDir });
  if (!parsed.ok) throw new Error(parsed.faults.join());
  return loadSecrets(parsed.config);
};

it('generated secrets are readable by their owner only, leave no draft behind, and are the same at the next start', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-secrets-'));
  folders.push(folder);
  const first = await load(join(folder, 'data'));
  const files = readdirSync(join(folder, 'data'));
  expect(files.sort()).toEqual(['admin-token', 'receipt-keys.json', 'status-keys.json']);
  for (const file of files) expect(statSync(join(folder, 'data', file)).mode & 0o777).toBe(0o600);
  const second = await load(join(folder, 'data'));
  expect(second.adminToken).toBe(first.adminToken);
  expect(second.receiptKeys.published).toEqual(first.receiptKeys.published);
});
