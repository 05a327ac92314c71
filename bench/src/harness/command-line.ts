/** The command lines of the benchmarks: each is a table of options, from which the usage text is made as well. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

export interface Option<Value> {
  /** Placeholder of its value in the usage text; null where it takes none. */
  readonly takes: string | null;
  readonly text: string;
  /** Parses the given values, in order. Throws where they are not valid. */
  read(given: readonly string[]): Value;
}

type Table = Readonly<Record<string, Option<unknown>>>;
type ValuesOf<Options extends Table> = {
  readonly [Name in keyof Options]: ReturnType<Options[Name]['read']>;
};

interface Count<Default> {
  /** The value where none is given; null is no value. */
  readonly default: Default;
  readonly least: number;
  readonly most: number;
  readonly text: string;
  readonly takes?: string;
  /** Printed after the default. */
  readonly note?: string;
}

/** A whole number between both bounds, inclusive. */
export const count = <Default extends number | null>({
  takes = 'N',
  note = '',
  ...one
}: Count<Default>): Option<number | Default> => ({
  takes,
  text: [
    `${one.text}, ${figure(one.least)} to ${figure(one.most)}`,
    ...(one.default === null ? [] : [`, default ${figure(one.default)}${note}`]),
  ].join(''),
  read: (given) => {
    const text = given.at(-1);
    return text === undefined ? one.default : within(text, one.least, one.most);
  },
});

/** A file or a folder; null where none is named. */
export const path = (text: string, takes = 'FILE'): Option<string | null> => ({
  ...{ takes, text },
  read: (given) => given.at(-1) ?? null,
});

export const flag = (text: string): Option<boolean> => ({
  ...{ takes: null, text },
  read: (given) => given.length > 0,
});

/** A choice of names, each as often as it is given. Where none is given: all of them, or `unless`. */
export const some = <Name extends string>(
  names: readonly Name[],
  text: string,
  unless: readonly Name[] = names,
): Option<readonly Name[]> => ({
  ...{ takes: 'NAME', text },
  read: (given) => (given.length === 0 ? unless : given.map((one) => oneOf(names, one))),
});

/** The built API, of this clone or another. */
export const ownApi: Option<string> = {
  ...{ takes: 'FILE', text: 'another build of the API, default apps/api/dist/main.js' },
  read: (given) => {
    const file = given.at(-1) ?? builtApp('api');
    assertBuilt(file);
    return file;
  },
};

interface CommandLine<Options extends Table> {
  /** The command before the options. */
  readonly command: string;
  readonly options: Options;
  /** Text before the usage, and text after it. */
  readonly about?: string;
  readonly more?: string;
  /** Throws where values that are valid alone are not valid together. */
  readonly check?: (values: ValuesOf<Options>) => void;
}

/**
 * Reads the options of a benchmark. Ends the process: with 0 for `--help`, with 2 where the command line is not valid.
 */
export function readOptions<const Options extends Table>(
  benchmark: string,
  { command, options, about, more, check }: CommandLine<Options>,
): ValuesOf<Options> {
  const args = process.argv.slice(2).filter((arg) => arg !== '--' && arg !== benchmark);
  const usage = [about, `usage: ${command}`, ...linesOf(options), more]
    .filter((line) => line !== undefined)
    .join('\n');
  if (args.includes('--help')) {
    console.log(usage);
    process.exit(0);
  }
  try {
    const values = read(args, options);
    check?.(values);
    return values;
  } catch (problem) {
    console.error(`${problem instanceof Error ? problem.message : problem}\n${usage}`);
    process.exit(2);
  }
}

function read<Options extends Table>(args: string[], options: Options): ValuesOf<Options> {
  const entries = Object.entries(options);
  const { values } = parseArgs({
    args,
    options: Object.fromEntries(
      entries.map(([name, { takes }]) => [
        name,
        { type: takes === null ? ('boolean' as const) : ('string' as const), multiple: true },
      ]),
    ),
  });
  return Object.fromEntries(
    entries.map(([name, option]) => [name, option.read((values[name] ?? []).map(String))]),
  ) as ValuesOf<Options>;
}

function linesOf(options: Table): string[] {
  const rows = Object.entries(options).map(([name, { takes, text }]) => ({
    left: takes === null ? `--${name}` : `--${name} ${takes}`,
    text,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length));
  return rows.map(({ left, text }) => `  ${left.padEnd(width)}  ${text}`);
}

/** Writes a power of ten from ten thousand on as such, which is shorter. */
function figure(value: number): string {
  const power = Math.log10(value);
  return Number.isInteger(power) && power >= 4 ? `1e${power}` : String(value);
}

/** The built program of an app. */
export const builtApp = (app: 'admin' | 'api' | 'worker') =>
  fileURLToPath(new URL(`../../apps/${app}/dist/main.js`, import.meta.url));

export function assertBuilt(...programs: readonly string[]): void {
  for (const program of programs)
    if (!existsSync(program)) throw new Error(`${program} is not there: \`npm run build\` makes it`);
}

function within(text: string, least: number, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new Error(`${text} is not a whole number from ${least} to ${most}`);
}

function oneOf<Name extends string>(names: readonly Name[], text: string): Name {
  const found = names.find((name) => name === text);
  if (found === undefined) throw new Error(`${text} is none of ${names.join(', ')}`);
  return found;
}
