/** The command line of `npm run bench -- day`. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

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

const built = (app: string) => fileURLToPath(new URL(`../../apps/${app}/dist/main.js`, import.meta.url));

/** Ends the process where the command line makes no sense. */
export function parseDayOptions(args: readonly string[]): DayOptions {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        receipts: { type: 'string', default: '1e6' },
        decisions: { type: 'string', default: '1e5' },
        rate: { type: 'string', default: '200' },
        rounds: { type: 'string', default: '3' },
        api: { type: 'string', default: built('api') },
      },
    });
    const [admin, worker] = [built('admin'), built('worker')];
    for (const program of [values.api, admin, worker])
      if (!existsSync(program)) throw new Error(`${program} is not there: \`npm run build\` makes it`);
    return {
      receipts: within(values.receipts, 1_000, 10_000_000),
      decisions: within(values.decisions, 0, 1_000_000),
      rate: within(values.rate, 1, 5_000),
      rounds: within(values.rounds, 1, 20),
      ...{ admin, worker, api: values.api },
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
