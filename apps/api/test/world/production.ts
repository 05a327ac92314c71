/** The environment of a production deployment. Its keys are in files that exist as long as the tests run. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll } from 'vitest';
import { DOMAIN } from './api-node.ts';

export const productionEnv = (): Record<string, string> => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-production-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return {
    SVC_ENV: 'production',
    SVC_BASE_URL: `https://${DOMAIN}`,
    SVC_FENCE: pathToFileURL(join(folder, 'fence')).href,
    // Long, since loaded machines stall; another test covers the bound itself.
    SVC_FENCE_MAX_AGE_MS: '10000',
    SVC_RECEIPT_KEYS: writeKeys(folder, 'receipt'),
    SVC_STATUS_KEYS: writeKeys(folder, 'status'),
    // The sandbox Principal's keys.
    SVC_SANDBOX_KEYS: writeKeys(folder, 'key'),
  };
};

const writeKeys = (folder: string, purpose: string): string => {
  const path = join(folder, `${purpose}-keys.json`);
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  writeFileSync(path, JSON.stringify({ keys: [{ kid: `${purpose}-1`, ...jwk }] }), { mode: 0o600 });
  return path;
};
