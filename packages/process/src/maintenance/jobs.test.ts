import type { ServiceDeps } from '@svc/service';
import { describe, expect, it } from 'vitest';
import { maintenanceJobs } from './jobs.ts';

const jobOf = (name: string, store: object) => {
  const service = { store, clock: { nowMs: () => 0 }, log: { warn: () => {} } } as unknown as ServiceDeps;
  const job = maintenanceJobs(service).find((one) => one.name === name);
  if (job === undefined) throw new Error(`no job ${name}`);
  return job;
};

describe.each([
  ['forget-spent-proofs', 'sweepSpentProofs'],
  ['forget-idempotency-keys', 'sweepIdempotencyKeys'],
])('%s', (name, method) => {
  const PARTS = 10;
  const STEPS = 3;

  /** Rounds of three steps each. `fails`: parts that cannot be swept. */
  const sweepRounds = async (rounds: number, fails: readonly number[] = []) => {
    const asked: number[] = [];
    let round = new AbortController();
    let steps = 0;
    const sweep = async (from: number) => {
      asked.push(from);
      steps += 1;
      if (steps === STEPS) round.abort();
      if (fails.includes(from)) throw new Error('no such page');
      return { removed: 1, next: from + 1 < PARTS ? from + 1 : null };
    };
    const job = jobOf(name, { retention: { [method]: sweep } });
    for (let i = 0; i < rounds; i += 1) {
      [round, steps] = [new AbortController(), 0];
      await job.run(round.signal).catch(() => {});
    }
    return asked;
  };

  it('goes on where its last round ended, and begins again once it has been through', async () => {
    expect(await sweepRounds(5)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]);
  });

  it('sweeps what is before a part that fails again', async () => {
    expect(await sweepRounds(4, [1])).toEqual([0, 1, 1, 0, 1, 1]);
  });
});

it('pauses are completed also where the revocations beside them cannot be listed, and the round fails', async () => {
  let asked = 0;
  const job = jobOf('complete-revocations', {
    grants: {
      listUnstampedPrincipals: async () => {
        throw new Error('down');
      },
    },
    pauses: {
      listUnstamped: async () => {
        asked += 1;
        return [];
      },
    },
  });
  await expect(job.run(new AbortController().signal)).rejects.toThrow('down');
  expect(asked).toBe(1);
});
