/** The command line of `npm run bench -- cold`. */
import { parseArgs } from 'node:util';
import { assertBuilt, builtApp, readCommandLine, within } from '../harness/command-line.ts';

const PARTS = ['day', 'year'] as const;
type Part = (typeof PARTS)[number];

export interface ColdOptions {
  readonly parts: ReadonlySet<Part>;
  /** Of the day. */
  readonly receipts: number;
  /** Look-ups in each store. */
  readonly samples: number;
  /** Of the year. */
  readonly yearReceipts: number;
  /** Of each request about the year. */
  readonly requests: number;
  /** Where the year is kept. */
  readonly folder: string | null;
  readonly rounds: number;
  readonly seconds: number;
  readonly api: string;
  readonly worker: string;
}

const usage = `usage: npm run bench -- cold [options]
  --part NAME    day or year alone
  --receipts N   of the day, 1e3 to 1e7, default 1e6
  --samples N    look-ups in each store, 100 to 1e5, default 1000
  --year N       Receipts of the year, of whose 366 days 330 are cold, 1e4 to 1e8, default 1e7
  --folder DIR   keeps the year there, and measures the one it finds there
  --requests N   of each request about the year, 10 to 10000, default 100
  --rounds N     of verifies against the full and the empty database, 1-100, default 5
  --seconds N    of load in each of them, 1-60, default 4
  --api FILE     another build of the API, default apps/api/dist/main.js`;

/** Ends the process where the command line makes no sense. */
export const parseColdOptions = (args: readonly string[]): ColdOptions =>
  readCommandLine(args, usage, (given) => {
    const { values } = parseArgs({
      args: given,
      options: {
        part: { type: 'string', multiple: true, default: [...PARTS] },
        receipts: { type: 'string', default: '1e6' },
        samples: { type: 'string', default: '1000' },
        year: { type: 'string', default: '1e7' },
        folder: { type: 'string' },
        requests: { type: 'string', default: '100' },
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '4' },
        api: { type: 'string', default: builtApp('api') },
      },
    });
    const worker = builtApp('worker');
    assertBuilt(values.api);
    assertBuilt(worker);
    return {
      parts: new Set(values.part.map(parsePart)),
      receipts: within(values.receipts, 1_000, 10_000_000),
      samples: within(values.samples, 100, 100_000),
      yearReceipts: within(values.year, 10_000, 100_000_000),
      requests: within(values.requests, 10, 10_000),
      folder: values.folder ?? null,
      rounds: within(values.rounds, 1, 100),
      seconds: within(values.seconds, 1, 60),
      api: values.api,
      worker,
    };
  });

function parsePart(text: string): Part {
  const part = PARTS.find((one) => one === text);
  if (part === undefined) throw new Error(`${text} is none of ${PARTS.join(', ')}`);
  return part;
}
