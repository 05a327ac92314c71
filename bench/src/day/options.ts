/** The command line of `npm run bench -- day`. */
import { parseArgs } from 'node:util';
import { assertBuilt, builtApp, readCommandLine, within } from '../harness/command-line.ts';

export interface DayOptions {
  /** Of the day that is closed. */
  readonly receipts: number;
  /** Stored through the API, signed, for `svc-admin fsck`; 0: that part is left out. */
  readonly decisions: number;
  /** Verifies a second beside the closing. */
  readonly rate: number;
  readonly rounds: number;
  readonly api: string;
  readonly admin: string;
  readonly worker: string;
}

const usage = `usage: npm run bench -- day [options]
  --receipts N   of the day that is closed, 1e3 to 1e7, default 1e6
  --decisions N  stored through the API for svc-admin fsck, 0 to 1e6, default 1e5; 0 leaves that part out
  --rate N       verifies a second beside the closing, 1-5000, default 200
  --rounds N     closings by each of two processes, 1-20, default 3
  --api FILE     another build of the API, default apps/api/dist/main.js`;

/** Ends the process where the command line makes no sense. */
export const parseDayOptions = (args: readonly string[]): DayOptions =>
  readCommandLine(args, usage, (given) => {
    const { values } = parseArgs({
      args: given,
      options: {
        receipts: { type: 'string', default: '1e6' },
        decisions: { type: 'string', default: '1e5' },
        rate: { type: 'string', default: '200' },
        rounds: { type: 'string', default: '3' },
        api: { type: 'string', default: builtApp('api') },
      },
    });
    const [admin, worker] = [builtApp('admin'), builtApp('worker')];
    assertBuilt(values.api, admin, worker);
    return {
      receipts: within(values.receipts, 1_000, 10_000_000),
      decisions: within(values.decisions, 0, 1_000_000),
      rate: within(values.rate, 1, 5_000),
      rounds: within(values.rounds, 1, 20),
      ...{ admin, worker, api: values.api },
    };
  });
