/** The command line of `npm run bench -- peers`. */
import { parseArgs } from 'node:util';
import { assertBuilt, builtApp, readCommandLine, within } from '../harness/command-line.ts';

export interface PeersOptions {
  readonly rounds: number;
  /** Of each peer in each round. */
  readonly turnMs: number;
  /** Of load on each server in each round; 0: that part is left out. */
  readonly seconds: number;
  readonly api: string;
}

const usage = `usage: npm run bench -- peers [options]
  --rounds N     interleaved rounds, 1-100, default 9
  --turn MS      of each peer in each round, 10-10000, default 400
  --seconds N    of load on each server in each round, 0-60, default 3; 0 leaves the part over HTTP out
  --api FILE     another build of the API, default apps/api/dist/main.js`;

/** Ends the process where the command line makes no sense. */
export const parsePeersOptions = (args: readonly string[]): PeersOptions =>
  readCommandLine(args, usage, (given) => {
    const { values } = parseArgs({
      args: given,
      options: {
        rounds: { type: 'string', default: '9' },
        turn: { type: 'string', default: '400' },
        seconds: { type: 'string', default: '3' },
        api: { type: 'string', default: builtApp('api') },
      },
    });
    assertBuilt(values.api);
    const [rounds, turnMs] = [within(values.rounds, 1, 100), within(values.turn, 10, 10_000)];
    // Proofs are fresh for five minutes, and are signed before the first round.
    if (rounds * turnMs > 20_000) throw new Error('rounds of 20 s of each peer in all, at most');
    return {
      rounds,
      turnMs,
      seconds: within(values.seconds, 0, 60),
      api: values.api,
    };
  });
