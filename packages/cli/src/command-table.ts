/**
 * A program's command line, declared once. command-line.ts parses by this table, command-help.ts generates help and man
 * page from it, and completion.ts the shell completion.
 */

export interface Option {
  /** Name of the option's value in the help, such as `FILE`. Absent if the option takes no value. */
  readonly value?: string;
  /** What the option does, without a final full stop. */
  readonly text: string;
  /** May be repeated. */
  readonly many?: true;
  /** One letter. */
  readonly short?: string;
}

export type Options = Readonly<Record<string, Option>>;

export interface CommandText {
  /** The command's words: `verify`, `keys rotate`. */
  readonly name: string;
  /** What follows the name, one line for each form of the call. Unless given, made from `operand` and `options`. */
  readonly usage?: readonly string[];
  /** The one argument after the name: `KID`. */
  readonly operand?: string;
  /** The possible operands, if they are a few fixed words. */
  readonly choices?: readonly string[];
  /** One sentence, without a final full stop. */
  readonly gist: string;
  readonly options: Options;
  /** Paragraphs with further information. */
  readonly notes?: readonly string[];
}

export interface Program<Command extends CommandText> {
  readonly name: string;
  /** One sentence, without a final full stop. */
  readonly gist: string;
  readonly commands: readonly Command[];
  /** The command to run if the user names none. If absent, the user must name one. */
  readonly standard?: Command;
  /** The last paragraph of every help text: exit codes. */
  readonly foot: string;
}

/** The values of options that were declared `as const`; an absent flag is false. */
export type Values<Declared extends Options> = {
  readonly [Name in keyof Declared]: Declared[Name] extends { readonly value: string }
    ? (Declared[Name] extends { readonly many: true } ? readonly string[] : string) | undefined
    : boolean;
};

/** Selects the named options from a table that several commands share. */
export const pick = <const Declared extends Options, Name extends keyof Declared & string>(
  declared: Declared,
  names: readonly Name[],
): Pick<Declared, Name> =>
  Object.fromEntries(names.map((name) => [name, declared[name]])) as unknown as Pick<Declared, Name>;
