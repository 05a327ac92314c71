/**
 * A program's command line, declared once: command-line.ts parses by it, command-help.ts writes help and man page from it, and
 * completion.ts what a shell completes.
 */

export interface Option {
  /** What follows it, as help names it: `FILE`. Absent: nothing does. */
  readonly value?: string;
  /** What it does, without the point at its end. */
  readonly text: string;
  /** May be repeated. */
  readonly many?: true;
  /** One letter. */
  readonly short?: string;
}

export type Options = Readonly<Record<string, Option>>;

export interface CommandText {
  /** Its words: `verify`, `keys rotate`. */
  readonly name: string;
  /** What stands behind the name, one line for each way to call it; made of `operand` and `options` unless given. */
  readonly usage?: readonly string[];
  /** The one argument behind the name: `KID`. */
  readonly operand?: string;
  /** What the operand may be, where that is one of a few words. */
  readonly choices?: readonly string[];
  /** One sentence, without the point at its end. */
  readonly gist: string;
  readonly options: Options;
  /** Paragraphs of what else there is to know. */
  readonly notes?: readonly string[];
}

export interface Program<Command extends CommandText> {
  readonly name: string;
  /** One sentence, without the point at its end. */
  readonly gist: string;
  readonly commands: readonly Command[];
  /** The command that is meant where none is named; without it one must be. */
  readonly standard?: Command;
  /** The last paragraph of every help: exit codes. */
  readonly foot: string;
}

/** The values of options that were declared `as const`; a flag that was not given is false. */
export type Values<Declared extends Options> = {
  readonly [Name in keyof Declared]: Declared[Name] extends { readonly value: string }
    ? (Declared[Name] extends { readonly many: true } ? readonly string[] : string) | undefined
    : boolean;
};

/** The options of those names, of a table that several commands share. */
export const pick = <const Declared extends Options, Name extends keyof Declared & string>(
  declared: Declared,
  names: readonly Name[],
): Pick<Declared, Name> =>
  Object.fromEntries(names.map((name) => [name, declared[name]])) as unknown as Pick<Declared, Name>;
