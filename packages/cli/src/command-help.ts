/** Help, man page and completion of a program, generated from its command table. */
import type { CommandText, Option, Options, Program } from './command-table.ts';

const WIDTH = 108;
const OPTION_COLUMN = 29;

/** Wraps words into lines of at most `WIDTH`, each indented by `indent` spaces. */
const wrap = (text: string, indent: number): string => {
  const lines = [''];
  for (const word of text.split(/\s+/)) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && indent + last.length + 1 + word.length > WIDTH) lines.push(word);
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`;
  }
  return lines.join(`\n${' '.repeat(indent)}`);
};

const flagOf = ([name, { value, short }]: [string, Option]): string =>
  `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;

const textOf = ({ text, many }: Option): string => `${text}${many ? '; may be repeated' : ''}`;

const describeOptions = (options: Options): string =>
  Object.entries(options)
    .map((entry) => {
      const flag = `  ${flagOf(entry)}`;
      const text = wrap(textOf(entry[1]), OPTION_COLUMN);
      return flag.length < OPTION_COLUMN
        ? `${flag.padEnd(OPTION_COLUMN)}${text}`
        : `${flag}\n${' '.repeat(OPTION_COLUMN)}${text}`;
    })
    .join('\n');

const usageOf = ({ name, usage, operand, options }: CommandText): readonly string[] => {
  if (usage !== undefined) return usage;
  const flags = Object.entries(options).map(
    ([option, { value, many }]) =>
      `[--${option}${value === undefined ? '' : ` ${value}`}${many ? '...' : ''}]`,
  );
  return [[name, ...(operand === undefined ? [] : [operand]), ...flags].join(' ')];
};

const describeUsage = (program: string, command: CommandText): string =>
  usageOf(command)
    .map((one) => `  ${wrap(`${program} ${one}`, 6)}`)
    .join('\n');

/** `--help` without a command: the list of commands. */
export const programHelp = ({ name, gist, commands, foot }: Program<CommandText>): string =>
  [
    `${gist}.`,
    ...commands.map((command) => `${describeUsage(name, command)}\n      ${wrap(`${command.gist}.`, 6)}`),
    `${name} COMMAND --help describes one command and its options.`,
    wrap(foot, 0),
  ].join('\n\n');

/** `--help` for a command, or for several commands with the same first word. */
export const commandHelp = ({ name, foot }: Program<CommandText>, commands: readonly CommandText[]): string =>
  [
    ...commands.flatMap((command) => [
      describeUsage(name, command),
      wrap(`${command.gist}.`, 0),
      describeOptions(command.options),
      ...(command.notes ?? []).map((one) => wrap(one, 0)),
    ]),
    wrap(foot, 0),
  ]
    .filter((part) => part !== '')
    .join('\n\n');

/** The hint after a mistake: one line per command. */
export const summaryOf = (program: string, commands: readonly CommandText[]): string => {
  const calls = commands.map(({ name, operand }) => `${name}${operand === undefined ? '' : ` ${operand}`}`);
  const width = Math.max(...calls.map((call) => call.length));
  const lines = commands.map(({ gist }, i) => `  ${program} ${calls[i]?.padEnd(width)}  ${gist}`);
  return `${lines.join('\n')}\n\n${program} COMMAND --help says more.`;
};

const roff = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replaceAll('’', '\\(cq')
    .replaceAll('…', '...')
    .replace(/^([.'])/gm, '\\&$1');

/** The text of `man PROGRAM`, as roff. */
export const manPage = (
  { name: program, gist, commands, foot }: Program<CommandText>,
  version: string,
): string =>
  [
    `.TH ${roff(program.toUpperCase())} 1 "" "svc ${version}"`,
    '.SH NAME',
    `${roff(program)} \\- ${roff(gist.charAt(0).toLowerCase() + gist.slice(1))}`,
    '.SH SYNOPSIS',
    ...commands.flatMap((command) =>
      usageOf(command).flatMap((one) => ['.nf', roff(`${program} ${one}`), '.fi']),
    ),
    '.SH COMMANDS',
    ...commands.flatMap(({ name, gist: what, options, notes = [] }) => [
      `.SS ${roff(name)}`,
      roff(`${what}.`),
      ...Object.entries(options).flatMap((entry) => [
        '.TP',
        `.B ${roff(flagOf(entry))}`,
        roff(textOf(entry[1])),
      ]),
      ...notes.flatMap((part) => ['.PP', roff(part)]),
    ]),
    '.SH EXIT STATUS',
    roff(foot),
    '',
  ].join('\n');
