import { UsageError } from '@svc/cli/command-line';
import { expect, it } from 'vitest';
import { ledgerDropCommand, ledgerPackCommand } from './ledger.ts';

it('in production nothing is packed or removed by the default of a number of days that the worker may have otherwise', async () => {
  const production = { SVC_ENV: 'production', SVC_HOT_DAYS: '365' };
  for (const run of [
    () => ledgerPackCommand.run({}, production, ''),
    () => ledgerDropCommand.run({}, production, ''),
  ]) {
    await expect(run()).rejects.toThrow(UsageError);
    await expect(run()).rejects.toThrow(/^SVC_COLD_GRACE_DAYS must be set as the worker has it/);
  }
  await expect(ledgerPackCommand.run({}, { SVC_ENV: 'production' }, '')).rejects.toThrow(
    /^SVC_HOT_DAYS and SVC_COLD_GRACE_DAYS must be set/,
  );
});
