/** The command line of `npm run bench -- ledger`. */
import { count, flag, ownApi, path, readOptions, some } from '../harness/command-line.ts';

/** Ends the process where the command line is not valid. */
export const readLedgerOptions = () =>
  readOptions('ledger', {
    command: 'npm run bench -- ledger [options]',
    options: {
      receipts: count({ default: 1e7, least: 1e3, most: 1e8, text: 'stored before anything is measured' }),
      folder: path('keeps the database there, and measures the one it finds there', 'DIR'),
      short: flag('stores Receipts without their lists of checks: 35 GB for 1e7, not 50'),
      samples: count({ default: 200, least: 10, most: 1e4, text: 'of each request' }),
      part: some(
        ['requests', 'export', 'decisions'],
        'requests, export or decisions alone; may be given several times',
      ),
      rounds: count({
        ...{ default: 5, least: 1, most: 100 },
        text: 'of verifies against the full and the empty database',
      }),
      seconds: count({ default: 4, least: 1, most: 60, text: 'of load in each of them' }),
      'fill-only': flag('makes the database and ends'),
      api: ownApi,
      json: path('write every figure'),
    },
  });
