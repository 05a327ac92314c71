/**
 * Which mutants survived, and which of them may: `accepted.json` says for each why no test can distinguish it from the
 * original.
 */
import { readFileSync } from 'node:fs';
import type { Counts } from './outcome.ts';

/** The parts of Stryker's report (mutation-testing-report-schema) that are read. */
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

interface Survivor {
  readonly file: string;
  /** The whole line or lines without indentation. Positions change, but lines seldom do. */
  readonly line: string;
  /** The replaced text, and the mutant. */
  readonly was: string;
  readonly becomes: string;
}

interface Accepted extends Survivor {
  readonly why: string;
}

/** The statuses that say whether a mutant survived, or that it was ignored. */
const TOLD = new Set(['Killed', 'Timeout', 'Survived', 'NoCoverage', 'Ignored']);

/**
 * The counts of an area. Problems are every survivor that is not accepted, every mutant for which the tests could not
 * run, and every accepted mutant that did not survive.
 */
export function outcomeOf({ files }: Report): Counts {
  const found = Object.entries(files).flatMap(([file, { source, mutants }]) =>
    mutants.map((mutant) => ({ status: mutant.status, survivor: { file, ...describe(source, mutant) } })),
  );
  const count = (...statuses: string[]) => found.filter(({ status }) => statuses.includes(status)).length;
  const survivors = found
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ survivor }) => survivor);
  const accepted = readAccepted().filter(({ file }) => Object.hasOwn(files, file));
  const unexpected = survivors.filter((one) => !isAmong(accepted, one));
  // A mutant that timed out on a busy machine may survive on an idle one.
  const alive = found.filter(({ status }) => status !== 'Killed').map(({ survivor }) => survivor);
  const stale = accepted.filter((one) => !isAmong(alive, one));
  const untold = found.filter(({ status }) => !TOLD.has(status)).map(({ survivor }) => survivor);
  const killed = count('Killed', 'Timeout');
  return {
    mutants: killed + survivors.length,
    killed,
    timedOut: count('Timeout'),
    accepted: survivors.length - unexpected.length,
    problems: [
      ...unexpected.map((one) => `lived: ${textOf(one)}`),
      ...untold.map((one) => `the tests could not be run: ${textOf(one)}`),
      ...stale.map((one) => `accepted, but did not live: ${textOf(one)}`),
    ],
  };
}

const textOf = ({ file, line, was, becomes }: Survivor): string =>
  `${file}\n    ${line}\n    ${was}  →  ${becomes}`;

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

const isAmong = (list: readonly Survivor[], one: Survivor): boolean =>
  list.some((other) => keyOf(other) === keyOf(one));

const keyOf = ({ file, line, was, becomes }: Survivor): string => JSON.stringify([file, line, was, becomes]);
