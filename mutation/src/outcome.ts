/** The result of a run in one area, and the table at the end. */

export const MIN_PERCENT = 90;

export interface Counts {
  readonly mutants: number;
  /** Killed by a failed test, or because the tests did not end. `timedOut` counts the second kind alone. */
  readonly killed: number;
  readonly timedOut: number;
  /** Survivors that are listed in accepted.json. */
  readonly accepted: number;
  /** What needs attention, one text each. */
  readonly problems: readonly string[];
}

export interface Outcome extends Counts {
  readonly area: string;
  readonly minutes: number;
}

const percentOf = ({ killed, mutants }: Counts): number => (mutants === 0 ? 100 : (100 * killed) / mutants);

export const isGood = (outcome: Outcome): boolean =>
  outcome.problems.length === 0 && percentOf(outcome) >= MIN_PERCENT;

const HEAD = ['Area', 'Mutants', 'Killed', 'of these by time', 'Accepted', 'To look at', 'Minutes', ''];

/** In Markdown, as docs/testing.md shows it. */
export function tableOf(outcomes: readonly Outcome[]): string {
  const rows = outcomes.map((one) => [
    one.area,
    String(one.mutants),
    `${one.killed} (${percentOf(one).toFixed(1)} %)`,
    String(one.timedOut),
    String(one.accepted),
    String(one.problems.length),
    one.minutes.toFixed(0),
    isGood(one) ? 'good' : 'NOT GOOD',
  ]);
  const widths = HEAD.map((head, i) =>
    Math.max(...[head, ...rows.map((row) => row[i] ?? '')].map(({ length }) => length)),
  );
  const lines = [HEAD, widths.map((width) => '-'.repeat(width)), ...rows];
  return lines
    .map((cells) => `| ${cells.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`)
    .join('\n');
}
