/** The command line of `npm run bench -- cold`. */
import { assertBuilt, builtApp, count, ownApi, path, readOptions, some } from '../harness/command-line.ts';

const worker = builtApp('worker');

/** Ends the process where the command line is not valid. */
export const readColdOptions = () => ({
  worker,
  ...readOptions('cold', {
    command: 'npm run bench -- cold [options]',
    options: {
      part: some(['day', 'year'], 'day or year alone'),
      receipts: count({ default: 1e6, least: 1e3, most: 1e7, text: 'of the day' }),
      samples: count({ default: 1e3, least: 100, most: 1e5, text: 'look-ups in each store' }),
      year: count({
        ...{ default: 1e7, least: 1e4, most: 1e8 },
        text: 'Receipts of the year, of whose 366 days 330 are cold',
      }),
      folder: path('keeps the year there, and measures the one it finds there', 'DIR'),
      requests: count({ default: 100, least: 10, most: 1e4, text: 'of each request about the year' }),
      rounds: count({
        ...{ default: 5, least: 1, most: 100 },
        text: 'of verifies against the full and the empty database',
      }),
      seconds: count({ default: 4, least: 1, most: 60, text: 'of load in each of them' }),
      api: ownApi,
    },
    check: () => assertBuilt(worker),
  }),
});

export type ColdOptions = ReturnType<typeof readColdOptions>;
