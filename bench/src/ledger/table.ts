/** The output of the ledger benchmark: one row for each figure, with its bar. */
export interface Row {
  readonly what: string;
  readonly p50: string;
  /** The value that is compared with the bar. */
  readonly figure: string;
  readonly bar: string;
  readonly isMissed: boolean;
  readonly note: string;
}

export function printRows(rows: readonly Row[]): string {
  const lines = rows.map((row) => [
    row.what,
    row.p50,
    row.figure,
    row.bar,
    row.bar === '' ? '' : row.isMissed ? 'BAR MISSED' : 'holds',
    row.note,
  ]);
  const all = [['', 'p50', 'figure', 'bar', '', ''], ...lines];
  const widths = [0, 1, 2, 3, 4, 5].map((column) =>
    Math.max(...all.map((line) => line[column]?.length ?? 0)),
  );
  return [
    '',
    ...all.map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    ),
    '',
  ].join('\n');
}

export const atMost = (value: number, bar: number) => ({ bar: `≤ ${bar}`, isMissed: !(value <= bar) });
export const atLeast = (value: number, bar: number) => ({
  bar: `≥ ${bar.toLocaleString('en')}`,
  isMissed: !(value >= bar),
});
