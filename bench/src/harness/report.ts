/** The output of the benchmark. */
import { availableParallelism, cpus, loadavg } from 'node:os';
import type { LoadReport } from '../load/messages.ts';
import { median } from '../load/percentile.ts';
import { NAMES } from './contestants.ts';
import { type Bar, type Figure, figuresOf } from './ratios.ts';
import { type Measured, perSecond } from './rounds.ts';

/** Share of a core: where other processes use more, the figures say little. */
const BUSY_CORE_SHARE = 0.25;

export function describeMachine(): string {
  return `${availableParallelism()} × ${cpus()[0]?.model.trim() ?? 'unknown processor'}, Node ${process.versions.node}`;
}

/** The load average of the last minute. */
export const describeLoad = (): string => `load ${loadavg()[0]?.toFixed(1)}`;

export function printReport(measured: Measured, figures: readonly Figure[] = figuresOf(measured)): string {
  const { rounds, alone, fsyncsPerDecision } = measured;
  const of = (read: (report: LoadReport) => number) =>
    NAMES.map((name) => median(rounds.map((round) => read(round[name]))));
  const microseconds = (read: (report: LoadReport) => number) =>
    of((report) => (read(report) * 1000) / report.allowed);
  const columns: readonly (readonly [string, readonly number[], number])[] = [
    ['decisions/s', of(perSecond), 0],
    ['p50 ms', of(({ p50Ms }) => p50Ms), 1],
    ['p99 ms', of(({ p99Ms }) => p99Ms), 1],
    ['Node µs', microseconds(({ serverCpuMs }) => serverCpuMs), 0],
    ['PostgreSQL µs', microseconds(({ postgresCpuMs }) => postgresCpuMs), 0],
    ['both µs', microseconds(({ serverCpuMs, postgresCpuMs }) => serverCpuMs + postgresCpuMs), 0],
    ['fsyncs', NAMES.map((name) => fsyncsPerDecision[name]), 3],
    ['p50 ms alone', NAMES.map((name) => median(alone.map((round) => round[name]))), 2],
  ];
  const cells = columns.map(([title, values, digits]) => [
    title,
    ...values.map((value) => format(value, digits)),
  ]);
  const reports = rounds.flatMap((round) => NAMES.map((name) => round[name]));
  const loadShare = median(reports.map((report) => coreShare(report, 'loadCpuMs')));
  const elsewhere = median(reports.map((report) => coreShare(report, 'elsewhereCpuMs')));
  return [
    '',
    'Medians per decision; 64 connections, the last column 1 connection:',
    ...table([['', ...NAMES], ...cells], [0]),
    '',
    `one commit alone: p50 ${format(median(alone.map(({ commit }) => commit)), 2)} ms; the floor at 1 connection takes ${format(median(alone.map(({ floor, commit }) => floor / commit)), 2)} times as long`,
    `meanwhile the load process used ${percent(loadShare)} of a core, everything else ${percent(elsewhere)}`,
    ...(elsewhere > BUSY_CORE_SHARE
      ? ['The machine was busy with other work: run again when it is not.']
      : []),
    '',
    printFigures(figures),
  ].join('\n');
}

export const printFigures = (figures: readonly Figure[]): string =>
  [
    'Ratios within one round, median (least to most):',
    ...table(transpose(figures.map(describe)), [0, 2, 3, 4, 5]),
  ].join('\n');

const describe = (figure: Figure): string[] => [
  figure.what,
  format(figure.value, 2),
  `(${format(figure.least, 2)} to ${format(figure.most, 2)})`,
  figure.bar === null ? '' : `bar ${describeBar(figure.bar)}`,
  `goal ${describeBar(figure.goal)}`,
  figure.verdict,
];

const describeBar = (bar: Bar) => ('atMost' in bar ? `≤ ${bar.atMost}` : `≥ ${bar.atLeast}`);

const coreShare = (report: LoadReport, cpu: 'loadCpuMs' | 'elsewhereCpuMs') =>
  report[cpu] / (report.seconds * 1000);

const percent = (share: number) => `${Math.round(share * 100)} %`;

const format = (value: number, digits: number) =>
  value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });

/** Formats columns as lines. Columns in `flushLeft` are aligned left, the others right. */
export function table(columns: readonly (readonly string[])[], flushLeft: readonly number[]): string[] {
  const padded = columns.map((column, i) => {
    const width = Math.max(...column.map((cell) => cell.length));
    return column.map((cell) => (flushLeft.includes(i) ? cell.padEnd(width) : cell.padStart(width)));
  });
  return transpose(padded).map((row) => row.join('  ').trimEnd());
}

export const transpose = (rows: readonly (readonly string[])[]): string[][] =>
  (rows[0] ?? []).map((_, i) => rows.map((row) => row[i] ?? ''));
