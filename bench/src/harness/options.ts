/** The command line of the benchmark. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

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
export function parseOptions(args: readonly string[]): Options {
  try {
    const { values } = parseArgs({
      args: [...args].filter((arg, i) => arg !== '--' || i > 0),
      options: {
        rounds: { type: 'string', default: '5' },
        seconds: { type: 'string', default: '4' },
        agents: { type: 'string', default: '100' },
        api: {
          type: 'string',
          default: fileURLToPath(new URL('../../apps/api/dist/main.js', import.meta.url)),
        },
        json: { type: 'string' },
      },
    });
    if (!existsSync(values.api)) throw new Error(`${values.api} is not there: \`npm run build\` makes it`);
    return {
      rounds: within(values.rounds, 1, 100),
      seconds: within(values.seconds, 1, 60),
      agents: within(values.agents, 1, 100),
      api: values.api,
      json: values.json ?? null,
    };
  } catch (problem) {
    console.error(`${problem instanceof Error ? problem.message : problem}\n${usage}`);
    process.exit(2);
  }
}

function within(text: string, least: number, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < least || value > most)
    throw new Error(`${text} is not a whole number from ${least} to ${most}`);
  return value;
}
