/** Which mutants lived, and which of them may: `accepted.json` says of each why no test can tell it from the original. */
import { readFileSync } from 'node:fs';

/** As much of Stryker's report (mutation-testing-report-schema) as is read. */
export interface Report {
  readonly files: Readonly<Record<string, { readonly source: string; readonly mutants: readonly Mutant[] }>>;
}

interface Mutant {
  readonly mutatorName: string;
  readonly replacement?: string;
  readonly status: string;
  readonly location: { readonly start: Position; readonly end: Position };
}

interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Survivor {
  readonly file: string;
  /** The whole line or lines as they stand, without indentation: places move, lines seldom do. */
  readonly line: string;
  /** What stood where the mutant was put, and the mutant. */
  readonly was: string;
  readonly becomes: string;
}

export interface Accepted extends Survivor {
  readonly why: string;
}

export interface Tally {
  readonly killed: number;
  readonly survivors: readonly Survivor[];
}

export function tallyOf({ files }: Report): Tally {
  let killed = 0;
  const survivors: Survivor[] = [];
  for (const [file, { source, mutants }] of Object.entries(files)) {
    for (const mutant of mutants) {
      if (mutant.status === 'Killed' || mutant.status === 'Timeout') killed += 1;
      if (mutant.status === 'Survived' || mutant.status === 'NoCoverage')
        survivors.push({ file, ...describe(source, mutant) });
    }
  }
  return { killed, survivors };
}

function describe(source: string, { location: { start, end }, replacement = '' }: Mutant) {
  const lines = source.split('\n').slice(start.line - 1, end.line);
  const tail = (lines.at(-1) ?? '').length - (end.column - 1);
  const text = lines.join('\n');
  const was = text.slice(start.column - 1, text.length - tail);
  return { line: oneLine(lines[0] ?? ''), was: oneLine(was), becomes: oneLine(replacement) };
}

const oneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

export const readAccepted = (): readonly Accepted[] =>
  JSON.parse(readFileSync(new URL('../accepted.json', import.meta.url), 'utf8'));

const keyOf = ({ file, line, was, becomes }: Survivor): string => JSON.stringify([file, line, was, becomes]);

/** Survivors that nobody has accepted, and acceptances of what does not survive in these files. */
export function compare(tally: Tally, files: readonly string[], accepted: readonly Accepted[]) {
  const keys = new Set(accepted.map(keyOf));
  const living = new Set(tally.survivors.map(keyOf));
  return {
    unexpected: tally.survivors.filter((one) => !keys.has(keyOf(one))),
    stale: accepted.filter((one) => files.includes(one.file) && !living.has(keyOf(one))),
  };
}
