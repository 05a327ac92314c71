/** Parses command lines by a program's command table, with Node's `parseArgs`, but with our own error messages. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { commandHelp, programHelp, summaryOf } from './command-help.ts';
import type { CommandText, Option, Options, Program, Values } from './command-table.ts';

export { type CommandText, type Options, type Program, pick, type Values } from './command-table.ts';

/** A mistake that the user at the command line must correct. The program's answer is "could not decide". */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  /** `hint`: the available alternatives, in prepared lines. */
  constructor(
    message: string,
    readonly hint: string | null = null,
  ) {
    super(message);
  }
}

export type Line<Command extends CommandText> =
  /** The user asked for help. */
  | { readonly kind: 'help'; readonly text: string }
  | { readonly kind: 'version' }
  | {
      readonly kind: 'command';
      readonly command: Command;
      /**
       * Values of all options of the program, as `Values` describes them; options that the command lacks are absent.
       */
      readonly values: Readonly<Record<string, unknown>>;
      /** The arguments after the command's words. */
      readonly operands: readonly string[];
    };

/** The options that every program has. */
export const COMMON = {
  help: { text: 'show this text; with a command, the help of that command', short: 'h' },
  version: { text: 'show the version', short: 'v' },
} as const satisfies Options;

/**
 * Parses a command line by the table. The command itself checks its operands.
 * @throws UsageError, which says what is wrong and what is right
 */
export const readLine = <Command extends CommandText>(
  program: Program<Command>,
  args: readonly string[],
): Line<Command> => {
  const { name, commands, standard } = program;
  const all: Options = Object.assign({}, COMMON, ...commands.map(({ options }) => options));
  const { values, positionals } = parseOptions(args, all);
  const command = findCommand(commands, positionals);
  if (values.help) return { kind: 'help', text: helpOn(program, positionals, command) };
  if (values.version) return { kind: 'version' };
  const meant = command ?? (args.length > 0 && positionals.length <= 1 ? standard : undefined);
  if (meant === undefined) {
    const begun = commands.filter((one) => one.name.startsWith(`${positionals[0]} `));
    throw new UsageError(unknown(positionals), summaryOf(name, begun.length > 0 ? begun : commands));
  }
  const operands = command === undefined ? positionals : positionals.slice(wordsOf(command).length);
  const group = commands.filter((one) => one.name.startsWith(`${meant.name} `));
  if (operands.length > 0 && meant.operand === undefined && group.length > 0)
    throw new UsageError(unknown(positionals), summaryOf(name, [meant, ...group]));
  for (const [option, value] of Object.entries(values))
    if (value !== false && !Object.hasOwn(meant.options, option))
      throw new UsageError(`${meant.name} has no option --${option}`);
  return { kind: 'command', command: meant, values, operands };
};

const unknown = (words: readonly string[]): string =>
  words.length === 0 ? 'no command is named' : `there is no command ${words.join(' ')}`;

const wordsOf = ({ name }: CommandText): readonly string[] => name.split(' ');

/** The command whose words begin the line; if several match, the one with the most words. */
const findCommand = <Command extends CommandText>(
  commands: readonly Command[],
  words: readonly string[],
): Command | undefined =>
  commands
    .filter((one) => one.name === words.slice(0, wordsOf(one).length).join(' '))
    .sort((left, right) => wordsOf(right).length - wordsOf(left).length)[0];

/** Help for the commands that begin with the words, or else for the command that the words begin with. */
const helpOn = <Command extends CommandText>(
  program: Program<Command>,
  words: readonly string[],
  command: Command | undefined,
): string => {
  const name = words.join(' ');
  const group = program.commands.filter((one) => one.name === name || one.name.startsWith(`${name} `));
  const meant = group.length === 0 && command !== undefined ? [command] : group;
  return meant.length === 0 ? programHelp(program) : commandHelp(program, meant);
};

/**
 * Parses the options of a program without commands.
 * @throws UsageError, which says what is wrong and what is right
 */
export const parseOptions = <const Declared extends Options>(
  args: readonly string[],
  declared: Declared,
): { readonly values: Values<Declared>; readonly positionals: readonly string[] } => {
  const options = Object.fromEntries(Object.entries(declared).map(([name, one]) => [name, configOf(one)]));
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values: values as Values<Declared>, positionals };
  } catch {
    throw new UsageError(findProblem(args, options) ?? 'the command line cannot be read');
  }
};

type OptionConfig = NonNullable<ParseArgsConfig['options']>[string];

const configOf = ({ value, many, short }: Option): OptionConfig => ({
  ...(value === undefined ? { type: 'boolean', default: false } : { type: 'string' }),
  ...(many && { multiple: many }),
  ...(short !== undefined && { short }),
});

const findProblem = (
  args: readonly string[],
  options: Readonly<Record<string, OptionConfig>>,
): string | null => {
  const lenient = { options, allowPositionals: true, strict: false, tokens: true } as const;
  for (const token of parseArgs({ args: [...args], ...lenient }).tokens) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value } = token;
    const option = Object.hasOwn(options, name) ? options[name] : undefined;
    if (option === undefined) return `there is no option ${rawName}`;
    const takesValue = option.type === 'string';
    if (!takesValue && value !== undefined) return `${rawName} takes no value`;
    if (takesValue && (value === undefined || value.startsWith('-')))
      return `${rawName} must be followed by a value${value === undefined ? '' : `, not ${value}`}`;
  }
  return null;
};
