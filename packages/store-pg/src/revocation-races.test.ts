import { withDatabase } from '@svc/testkit';
import { raceRevocations } from '@svc/testkit/store/revocation-races';
import { runSql } from '@svc/testkit/store/session';
import { describe, expect, it } from 'vitest';

const whole = withDatabase();
const slowed = withDatabase();
const unlocked = withDatabase();

const judged = '  if cardinality(array_remove(p_idempotency_key, null)) > 0 then\n    with candidate';
const lockAttempt = 'if not svc_lock_shared(1, v_key, v_deadline) then';

/** Replaces a part of the commit function in a test database. */
async function alterCommit(url: string, part: string, replacement: string): Promise<void> {
  const [row] = await runSql<{ source: string }>(
    url,
    `select pg_get_functiondef('svc_commit_decisions'::regproc) as source`,
  );
  expect(row?.source).toContain(part);
  await runSql(url, row?.source.replace(part, () => replacement) ?? '');
}

/** Stretches the moment between judging and storing, in which a revocation may come. */
const slowDown = (url: string) => alterCommit(url, judged, `  perform pg_sleep(0.004);\n${judged}`);

describe('revocation against decisions through two nodes', () => {
  it('in 300 races no ALLOW is committed after the acknowledgement or dated after the stamp', async () => {
    const report = await raceRevocations(whole.url, { races: 300 });
    expect(report.breaches).toEqual([]);
    expect(report.allowsBefore).toBeGreaterThan(300);
    expect(report.refusedAfter).toBeGreaterThan(0);
  }, 120_000);

  it('nor where commits dawdle between judging and storing', async () => {
    await slowDown(slowed.url);
    expect((await raceRevocations(slowed.url, { races: 60 })).breaches).toEqual([]);
  }, 120_000);

  it('the same races find the fault once commits take no lock', async () => {
    await slowDown(unlocked.url);
    await alterCommit(unlocked.url, lockAttempt, 'if false then');
    const report = await raceRevocations(unlocked.url, { races: 60, untilBreach: true });
    expect(report.breaches).not.toEqual([]);
  }, 120_000);
});
