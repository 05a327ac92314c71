/** The parts of a program's table that shells complete. */
import { COMMON, type CommandText, type Options, type Program } from '../command-line.ts';

export interface Word {
  readonly word: string;
  /** The description that a shell shows; empty if there is none. */
  readonly gist: string;
}

/** Name of the program's function in a shell script: `_svc_receipt`. */
export const functionName = (program: string): string => `_${program.replaceAll('-', '_')}`;

export const firstWords = ({ commands }: Program<CommandText>): readonly Word[] =>
  [...new Set(commands.map(({ name }) => first(name)))].map((word) => ({
    word,
    gist: commands.find(({ name }) => name === word)?.gist ?? '',
  }));

/** What may follow each first word: the second words of its commands, or the choices of its operand. */
export const secondWords = ({ commands }: Program<CommandText>): ReadonlyMap<string, readonly Word[]> => {
  const all = new Map<string, Word[]>();
  for (const { name, gist, choices = [] } of commands) {
    const words = [
      ...(name === first(name) ? [] : [{ word: name.slice(first(name).length + 1), gist }]),
      ...choices.map((word) => ({ word, gist: '' })),
    ];
    if (words.length > 0) all.set(first(name), [...(all.get(first(name)) ?? []), ...words]);
  }
  return all;
};

/** Longer names first, because `keys create` begins with `keys`. */
export const byLength = ({ commands }: Program<CommandText>): readonly CommandText[] =>
  [...commands].sort((left, right) => right.name.length - left.name.length);

export const optionsOf = ({ options }: CommandText): Options => ({ ...options, help: COMMON.help });

/** The options that are valid if no command is named. */
export const standardOptions = ({ standard }: Program<CommandText>): Options => ({
  ...standard?.options,
  ...COMMON,
});

const first = (name: string): string => name.split(' ', 1)[0] ?? '';
