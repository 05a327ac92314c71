import type { ServiceDeps } from '@svc/service';
import { describe, expect, it } from 'vitest';
import { maintenanceJobs } from './jobs.ts';

const jobOf = (name: string, store: object, drawn: readonly number[] = [0, 0, 0, 0]) => {
  const service = {
    ...{ store, clock: { nowMs: () => 0 }, log: { warn: () => {} } },
    random: { bytes: () => Uint8Array.from(drawn) },
  } as unknown as ServiceDeps;
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

  const endOf = async () => PARTS;

  interface Rounds {
    /** Parts whose sweep fails. */
    readonly fails?: readonly number[];
    /** Each round runs in a new process, which draws these bytes. Null: one process runs all rounds and draws zeros. */
    readonly drawn?: readonly (readonly number[])[] | null;
    /** Limit of each round. */
    readonly most?: number;
  }

  const sweepRounds = async (rounds: number, { fails = [], drawn = null, most = STEPS }: Rounds = {}) => {
    const asked: number[] = [];
    let round = new AbortController();
    let steps = 0;
    const sweep = async (from: number) => {
      asked.push(from);
      steps += 1;
      if (steps === most) round.abort();
      if (fails.includes(from)) throw new Error('no such page');
      return { removed: 1, next: from + 1 < PARTS ? from + 1 : null };
    };
    let job = jobOf(name, { retention: { endOf, [method]: sweep } });
    for (let i = 0; i < rounds; i += 1) {
      [round, steps] = [new AbortController(), 0];
      if (drawn !== null) job = jobOf(name, { retention: { endOf, [method]: sweep } }, drawn[i]);
      await job.run(round.signal).catch(() => {});
    }
    return asked;
  };

  it('continues where its last round ended, and starts over after the last part', async () => {
    expect(await sweepRounds(5)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2]);
  });

  it('sweeps the parts before a failing part again', async () => {
    expect(await sweepRounds(4, { fails: [1] })).toEqual([0, 1, 1, 0, 1, 1]);
  });

  it('starts at a random part in a process without a previous round, and continues from the first part after the last', async () => {
    const drawn = [0, 64, 128, 255].map((high) => [0, 0, 0, high]);
    expect(await sweepRounds(4, { drawn })).toEqual([0, 1, 2, 2, 3, 4, 5, 6, 7, 9, 0, 1]);
    const all = await sweepRounds(1, { drawn: [[0, 0, 0, 128]], most: 100 });
    expect(all).toEqual([5, 6, 7, 8, 9, 0, 1, 2, 3, 4]);
  });
});

it('pauses are completed even if revocations cannot be listed, and the round then fails', async () => {
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
