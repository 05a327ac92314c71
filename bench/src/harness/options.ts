/** The command line of the benchmark. */
import { parseArgs } from 'node:util';
import { assertBuilt, builtApp, readCommandLine, within } from './command-line.ts';

export interface Options {
  readonly rounds: number;
  /** Of load on each contestant in each round. */
  readonly seconds: number;
  readonly agents: number;
  /** The built API. */
  readonly api: string;
  /** Where to write every figure of every round, or null. */
  readonly json: string | null;
}

const usage = `usage: npm run bench -- [options]
  --rounds N     interleaved rounds, default 5
  --seconds N    of load on each contestant in each round, default 4
  --agents N     Agents with one Grant each, 1-100, default 100
  --api FILE     another build of the API, default apps/api/dist/main.js
  --json FILE    write every figure of every round`;

/** Ends the process where the command line makes no sense. */
export const parseOptions = (args: readonly string[]): Options =>
  readCommandLine(args, usage, (given) => {
    const { values } = parseArgs({
      args: given.filter((arg, i) => arg !== '--' || i > 0),
      options: {
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '4' },
        agents: { type: 'string', default: '100' },
        api: {
          type: 'string',
          default: builtApp('api'),
        },
        json: { type: 'string' },
      },
    });
    assertBuilt(values.api);
    return {
      rounds: within(values.rounds, 1, 100),
      seconds: within(values.seconds, 1, 60),
      agents: within(values.agents, 1, 100),
      api: values.api,
      json: values.json ?? null,
    };
  });
