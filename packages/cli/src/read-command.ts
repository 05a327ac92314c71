/** What all programs of this package parse and refuse in the same way. */
import packageJson from '../package.json' with { type: 'json' };
import { type CommandText, type Line, type Program, readLine, UsageError } from './command-line.ts';
import { completionFor } from './completion.ts';
import { printable } from './report.ts';

/** `tell`: text about the program that the user asked for: help, version, a completion script. */
export type Read<Command extends CommandText> =
  | { readonly kind: 'tell'; readonly text: string }
  | Extract<Line<Command>, { kind: 'command' }>;

/** Throws UsageError, which says what is wrong and what is right. */
export const readCommand = <Command extends CommandText>(
  program: Program<Command>,
  args: readonly string[],
): Read<Command> => {
  const line = readLine(program, args);
  if (line.kind === 'help') return { kind: 'tell', text: line.text };
  if (line.kind === 'version') return { kind: 'tell', text: packageJson.version };
  if (line.command.name === 'completion')
    return { kind: 'tell', text: completionFor(program, line.operands[0]) };
  return line;
};

/** The text for standard error when a command line is refused. */
export const describeRefusal = (program: string, error: Error): string => {
  const hint = error instanceof UsageError ? error.hint : null;
  return `${program}: ${printable(error.message)}\n${hint === null ? `Try ${program} --help.` : `\n${hint}`}`;
};
