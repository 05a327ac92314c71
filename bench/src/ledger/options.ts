/** The command line of `npm run bench -- ledger`. */
import { parseArgs } from 'node:util';
import { assertBuilt, builtApp, readCommandLine, within } from '../harness/command-line.ts';

const PARTS = ['requests', 'export', 'decisions'] as const;
export type Part = (typeof PARTS)[number];

export interface LedgerOptions {
  /** How many receipts the database holds. */
  readonly receipts: number;
  /** Where the database is kept for the next run, or null: made for this run alone. */
  readonly folder: string | null;
  /** Receipts of 2.3 KB, three to a page, where whole ones have 2.7 KB, two to a page. */
  readonly isShort: boolean;
  /** How often each request is measured. */
  readonly samples: number;
  /** Of verifies against the full and the empty database. */
  readonly rounds: number;
  readonly seconds: number;
  readonly api: string;
  readonly parts: ReadonlySet<Part>;
  /** Ends when the database is filled. */
  readonly isFillOnly: boolean;
  readonly json: string | null;
}

const usage = `usage: npm run bench -- ledger [options]
  --receipts N   stored before anything is measured, 1e3 to 1e8, default 1e7
  --folder DIR   keeps the database there, and measures the one it finds there
  --short        stores Receipts without their lists of checks: 35 GB for 1e7, not 50
  --samples N    of each request, 10-10000, default 200
  --part NAME    requests, export or decisions alone; may be given several times
  --rounds N     of verifies against the full and the empty database, 1-100, default 5
  --seconds N    of load in each of them, 1-60, default 4
  --fill-only    makes the database and ends
  --api FILE     another build of the API, default apps/api/dist/main.js
  --json FILE    write every figure`;

/** Ends the process where the command line makes no sense. */
export const parseLedgerOptions = (args: readonly string[]): LedgerOptions =>
  readCommandLine(args, usage, (given) => {
    const { values } = parseArgs({
      args: given,
      options: {
        receipts: { type: 'string', default: '1e7' },
        folder: { type: 'string' },
        short: { type: 'boolean', default: false },
        samples: { type: 'string', default: '200' },
        part: { type: 'string', multiple: true, default: [...PARTS] },
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '4' },
        'fill-only': { type: 'boolean', default: false },
        api: {
          type: 'string',
          default: builtApp('api'),
        },
        json: { type: 'string' },
      },
    });
    assertBuilt(values.api);
    return {
      receipts: within(values.receipts, 1_000, 100_000_000),
      folder: values.folder ?? null,
      isShort: values.short,
      samples: within(values.samples, 10, 10_000),
      rounds: within(values.rounds, 1, 100),
      seconds: within(values.seconds, 1, 60),
      parts: new Set(values.part.map(parsePart)),
      isFillOnly: values['fill-only'],
      api: values.api,
      json: values.json ?? null,
    };
  });

function parsePart(text: string): Part {
  const part = PARTS.find((one) => one === text);
  if (part === undefined) throw new Error(`${text} is none of ${PARTS.join(', ')}`);
  return part;
}
