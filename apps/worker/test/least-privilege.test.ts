/**
 * Secrets of the worker: it calls hosts of Principals, so it has no key that signs Receipts, and no credential of the
 * service.
 */
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabase } from '@svc/testkit';
import { runSql } from '@svc/testkit/store/session';
import { afterAll, expect, it } from 'vitest';
import { startWorker } from './harness.ts';

const database = withDatabase();
const keysDir = mkdtempSync(join(tmpdir(), 'svc-worker-secrets-'));
afterAll(() => rmSync(keysDir, { recursive: true, force: true }));

it('the worker reads only its status keys of all secrets, and names those that it should not have been given', async () => {
  // Each value would end a process that reads it: a missing file, a token that is too short.
  const missing = join(keysDir, 'missing');
  const given = {
    SVC_RECEIPT_KEYS: missing,
    SVC_SANDBOX_KEYS: missing,
    SVC_PROVISION_KEYS_FILE: missing,
    SVC_ADMIN_TOKEN: 'short',
  };
  const env = { ...given, SVC_SELF_SERVE: '1' };
  const worker = startWorker({ databaseUrl: database.url, hosts: {}, keysDir, env, parameters: ['--once'] });
  expect([await worker.ended, worker.log.filter((line) => line.includes('job.failed'))]).toEqual([0, []]);
  const notes = worker.log.filter((line) => line.includes('"secrets"')).map((line) => JSON.parse(line).note);
  expect(notes.map((note: string) => note.split(' ')[0]).toSorted()).toEqual(Object.keys(given).toSorted());
  expect(worker.log.join()).not.toContain('short');
  // It does not make files that it does not read either.
  expect(readdirSync(keysDir)).toEqual(['status-keys.json']);
  const published = await runSql<{ kid: string }>(database.url, 'select kid from service_keys');
  expect(published.map(({ kid }) => kid.split('#')[1])).toEqual(['status-1']);
});

it('the worker does not start on the database of another service, and stores no key in it', async () => {
  const env = { SVC_BASE_URL: 'http://scv.test' };
  const worker = startWorker({ databaseUrl: database.url, hosts: {}, keysDir, env, parameters: ['--once'] });
  expect([await worker.ended, worker.log.join()]).toEqual([
    1,
    expect.stringMatching(/is that of did:web:svc\.test, .* did:web:scv\.test/),
  ]);
  expect(await runSql(database.url, `select from service_keys where kid ~ 'scv'`)).toEqual([]);
});
