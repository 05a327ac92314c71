/** Secrets as files, which is how every artefact of `deploy/` gives them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readConfig, readRunnerConfig, readWorkerConfig } from './configuration.ts';

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
  it('takes whatever secrets it would take as values from files too', () => {
    const values = { DATABASE_URL: DATABASE, SVC_WEBHOOK_KEYS: ROOT };
    const files = { DATABASE_URL_FILE: fileOf(DATABASE), SVC_WEBHOOK_KEYS_FILE: fileOf(ROOT) };
    const [byValue, byFile] = [values, files].map((env) => read({ SVC_ENV: 'development', ...env }));
    expect(byFile).toEqual(byValue);
    expect(JSON.stringify(byFile)).toContain(DATABASE);
  });
});
