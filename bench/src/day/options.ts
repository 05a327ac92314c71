/** The command line of `npm run bench -- day`. */
import { assertBuilt, builtApp, count, ownApi, readOptions } from '../harness/command-line.ts';

const [admin, worker] = [builtApp('admin'), builtApp('worker')];

/** Ends the process where the command line is not valid. */
export const readDayOptions = () => ({
  ...{ admin, worker },
  ...readOptions('day', {
    command: 'npm run bench -- day [options]',
    options: {
      receipts: count({ default: 1e6, least: 1e3, most: 1e7, text: 'of the day that is closed' }),
      decisions: count({
        ...{ default: 1e5, least: 0, most: 1e6, note: '; 0 leaves that part out' },
        text: 'stored through the API for svc-admin fsck',
      }),
      rate: count({ default: 200, least: 1, most: 5_000, text: 'verifies a second beside the closing' }),
      rounds: count({ default: 3, least: 1, most: 20, text: 'closings by each of two processes' }),
      api: ownApi,
    },
    check: () => assertBuilt(admin, worker),
  }),
});

export type DayOptions = ReturnType<typeof readDayOptions>;
