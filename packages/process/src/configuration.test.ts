/** Secrets from files, as all files in `deploy/` pass them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { KeySetError, RefusedPinError } from '@svc/service';
import { afterAll, describe, expect, it } from 'vitest';
import {
  MUST_NOT_RESTART,
  readConfig,
  readRunnerConfig,
  readWorkerConfig,
  startFailureCode,
} from './configuration.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-configuration-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const fileOf = (value: string): string => {
  const path = join(folder, String(value.length));
  writeFileSync(path, value, { mode: 0o600 });
  return path;
};

const DATABASE = 'postgres://svc@127.0.0.1/svc';
const ROOT = 'r'.repeat(40);

describe.each([
  ['the API', readConfig],
  ['the worker', readWorkerConfig],
  ['the runner', readRunnerConfig],
])('%s', (_, read) => {
  it('takes the same secrets from files as from values', () => {
    const values = { DATABASE_URL: DATABASE, SVC_WEBHOOK_KEYS: ROOT };
    const files = { DATABASE_URL_FILE: fileOf(DATABASE), SVC_WEBHOOK_KEYS_FILE: fileOf(ROOT) };
    const [byValue, byFile] = [values, files].map((env) => read({ SVC_ENV: 'development', ...env }));
    expect(byFile).toEqual(byValue);
    expect(JSON.stringify(byFile)).toContain(DATABASE);
  });
});

it('a refused PIN, also as a cause, gives the exit status after which systemd does not restart a unit', () => {
  const unit = fileURLToPath(new URL('../../../deploy/systemd/svc-.service.d/common.conf', import.meta.url));
  expect(readFileSync(unit, 'utf8')).toContain(`\nRestartPreventExitStatus=${MUST_NOT_RESTART}\n`);
  const refused = new KeySetError('receipt keys', { cause: new RefusedPinError('does not take the PIN') });
  expect(startFailureCode(refused)).toBe(MUST_NOT_RESTART);
  expect(startFailureCode(new KeySetError('no such token'))).toBe(1);
});
