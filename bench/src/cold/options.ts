/** The command line of `npm run bench -- cold`. */
import { parseArgs } from 'node:util';
import { assertBuilt, builtApp, readCommandLine, within } from '../harness/command-line.ts';

export interface ColdOptions {
  readonly receipts: number;
  /** Look-ups in each store. */
  readonly samples: number;
  readonly api: string;
}

const usage = `usage: npm run bench -- cold [options]
  --receipts N   of the day, 1e3 to 1e7, default 1e6
  --samples N    look-ups in each store, 100 to 1e5, default 1000
  --api FILE     another build of the API, default apps/api/dist/main.js`;

/** Ends the process where the command line makes no sense. */
export const parseColdOptions = (args: readonly string[]): ColdOptions =>
  readCommandLine(args, usage, (given) => {
    const { values } = parseArgs({
      args: given,
      options: {
        receipts: { type: 'string', default: '1e6' },
        samples: { type: 'string', default: '1000' },
        api: { type: 'string', default: builtApp('api') },
      },
    });
    assertBuilt(values.api);
    return {
      receipts: within(values.receipts, 1_000, 10_000_000),
      samples: within(values.samples, 100, 100_000),
      api: values.api,
    };
  });
