/**
 * The figures that have bars. Each is a ratio of two figures of the same round; the median is compared with the bar.
 */
import type { LoadReport } from '../load/messages.ts';
import { median } from '../load/percentile.ts';
import { type Measured, perSecond } from './rounds.ts';

export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  /** The bar that must hold; null where there is none yet. */
  readonly bar: Bar | null;
  /** The bar to be reached in future. */
  readonly goal: Bar;
  readonly verdict: 'goal reached' | 'bar reached' | 'goal missed' | 'BAR MISSED';
}

export type Bar = { readonly atMost: number } | { readonly atLeast: number };

const cpuMs = ({ serverCpuMs, postgresCpuMs }: LoadReport) => serverCpuMs + postgresCpuMs;
export const cpuUsPerDecision = (report: LoadReport) => (cpuMs(report) * 1000) / report.allowed;

export function figuresOf({ rounds, alone, fsyncsPerDecision }: Measured): Figure[] {
  return [
    figureOf(
      'CPU per ALLOW, svc against floor',
      rounds.map(({ svc, floor }) => cpuUsPerDecision(svc) / cpuUsPerDecision(floor)),
      { atMost: 1.35 },
      { atMost: 1.2 },
    ),
    figureOf(
      'decisions/s at 64 connections, svc against plain',
      rounds.map(({ svc, plain }) => perSecond(svc) / perSecond(plain)),
      { atLeast: 4 },
      { atLeast: 5 },
    ),
    figureOf(
      'p50 at 1 connection, svc against one commit alone',
      alone.map(({ svc, commit }) => svc / commit),
      { atMost: 3.5 },
      { atMost: 3 },
    ),
    figureOf('fsyncs per decision at 64 connections, svc', [fsyncsPerDecision.svc], null, { atMost: 0.05 }),
  ];
}

/** The median of the ratios, compared with the bar and the goal. */
export function figureOf(what: string, values: readonly number[], bar: Bar | null, goal: Bar): Figure {
  const value = median(values);
  const range = { least: Math.min(...values), most: Math.max(...values) };
  return { what, value, ...range, bar, goal, verdict: judge(value, bar, goal) };
}

function judge(value: number, bar: Bar | null, goal: Bar): Figure['verdict'] {
  if (meets(value, goal)) return 'goal reached';
  if (bar === null) return 'goal missed';
  return meets(value, bar) ? 'bar reached' : 'BAR MISSED';
}

const meets = (value: number, bar: Bar) => ('atMost' in bar ? value <= bar.atMost : value >= bar.atLeast);
