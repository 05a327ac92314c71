/** The command line of `npm run bench -- cold`. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

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
export function parseColdOptions(args: readonly string[]): ColdOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        receipts: { type: 'string', default: '1e6' },
        samples: { type: 'string', default: '1000' },
        api: {
          type: 'string',
          default: fileURLToPath(new URL('../../apps/api/dist/main.js', import.meta.url)),
        },
      },
    });
    if (!existsSync(values.api)) throw new Error(`${values.api} is not there: \`npm run build\` makes it`);
    return {
      receipts: within(values.receipts, 1_000, 10_000_000),
      samples: within(values.samples, 100, 100_000),
      api: values.api,
    };
  } catch (problem) {
    console.error(`${problem instanceof Error ? problem.message : problem}\n${usage}`);
    process.exit(2);
  }
}

function within(text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${text} is not a whole number from ${least} to ${most}`);
}
