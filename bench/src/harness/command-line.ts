/** What the command lines of the benchmarks have in common. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The built program of an app. */
export const builtApp = (app: 'admin' | 'api' | 'worker') =>
  fileURLToPath(new URL(`../../apps/${app}/dist/main.js`, import.meta.url));

/** What follows the benchmark's name on the command line. */
export const argumentsOf = (benchmark: string): string[] =>
  process.argv.slice(2).filter((arg) => arg !== '--' && arg !== benchmark);

/** What `read` makes of the arguments. Prints `usage` and ends the process with 0 for `--help`, with 2 where `read` throws. */
export function readCommandLine<Options>(
  args: readonly string[],
  usage: string,
  read: (args: string[]) => Options,
): Options {
  if (args.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    return read([...args]);
  } catch (problem) {
    console.error(`${problem instanceof Error ? problem.message : problem}\n${usage}`);
    process.exit(2);
  }
}

export function assertBuilt(...programs: readonly string[]): void {
  for (const program of programs)
    if (!existsSync(program)) throw new Error(`${program} is not there: \`npm run build\` makes it`);
}

/** A whole number within both bounds. */
export function within(text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${text} is not a whole number from ${least} to ${most}`);
}
