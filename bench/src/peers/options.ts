/** The command line of `npm run bench -- peers`. */
import { count, ownApi, readOptions } from '../harness/command-line.ts';

/** Ends the process where the command line is not valid. */
export const readPeersOptions = () =>
  readOptions('peers', {
    command: 'npm run bench -- peers [options]',
    options: {
      rounds: count({ default: 9, least: 1, most: 100, text: 'interleaved rounds' }),
      turn: count({
        ...{ default: 400, least: 10, most: 1e4, takes: 'MS' },
        text: 'of each peer in each round',
      }),
      seconds: count({
        ...{ default: 3, least: 0, most: 60, note: '; 0 leaves the part over HTTP out' },
        text: 'of load on each server in each round',
      }),
      api: ownApi,
    },
    // Proofs are fresh for five minutes, and are signed before the first round.
    check: ({ rounds, turn }) => {
      if (rounds * turn > 20_000) throw new Error('rounds of 20 s of each peer in all, at most');
    },
  });
