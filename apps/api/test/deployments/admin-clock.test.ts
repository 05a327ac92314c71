/** `svc-admin clock` as an operator runs it; apps/worker, clock-repair.test.ts, tests what the repair undoes. */
import { tamper, withDatabase } from '@svc/testkit';
import { isDeep } from '@svc/testkit/sampled';
import { expect, it } from 'vitest';
import { runAdmin } from '../world/run-admin.ts';

const database = withDatabase();

const run = async (...parameters: readonly string[]) => {
  const { status, out, err } = await runAdmin(parameters, { DATABASE_URL: database.url });
  return { code: status, text: out + err };
};

it('svc-admin clock exits with 1 for a seal or mark in the future, and clock repair repairs it', async () => {
  if (isDeep)
    expect(await run('clock')).toMatchObject({ code: 0, text: expect.stringContaining('No faults.') });
  await tamper(
    database.url,
    `update ledger_seal set sealed_until = now() + interval '1 day';
     update clock_mark set marked_at = now() + interval '1 day'`,
  );
  const wrong = await run('clock');
  expect(wrong).toMatchObject({ code: 1, text: expect.stringContaining('sealed') });
  expect(wrong.text).toContain('mark');
  const repaired = await run('clock', 'repair', '--json');
  expect(repaired.code).toBe(0);
  expect(JSON.parse(repaired.text)).toMatchObject({ reopenedDays: 0, markMovedMs: expect.any(Number) });
  // It waits for spent Proofs to expire, which is not an error.
  expect((await run('clock', '--json')).code).toBe(0);
});

// In a sample apps/admin, program.test.ts, tests this without a process.
it.runIf(isDeep)('svc-admin clock lists its commands for an unknown one', async () => {
  expect(await run('clock', 'forward')).toMatchObject({
    code: 2,
    text: expect.stringMatching(/^svc-admin: there is no command clock forward\n.*svc-admin clock repair/s),
  });
});
