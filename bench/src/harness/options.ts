/** The options of the main benchmark, which several others use as well. */
import { count, ownApi, path, readOptions } from './command-line.ts';

/** Ends the process where the command line is not valid. */
export const readMainOptions = (benchmark = '') =>
  readOptions(benchmark, {
    command: 'npm run bench -- [options]',
    options: {
      rounds: count({ default: 5, least: 1, most: 100, text: 'interleaved rounds' }),
      seconds: count({
        ...{ default: 4, least: 1, most: 60 },
        text: 'of load on each contestant in each round',
      }),
      agents: count({ default: 100, least: 1, most: 100, text: 'Agents with one Grant each' }),
      api: ownApi,
      json: path('write every figure of every round'),
    },
  });
