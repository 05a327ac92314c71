/** The figures that the project holds itself to. Each is a ratio of two figures of the same round; the median counts. */
import type { LoadReport } from '../load/messages.ts';
import { median } from '../load/percentile.ts';
import { type Measured, perSecond } from './rounds.ts';

export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly least: number;
  readonly most: number;
  /** What is asked for now, and what is aimed at. */
  readonly bar: Bar;
  readonly goal: Bar;
  readonly verdict: 'goal reached' | 'bar reached' | 'BAR MISSED';
}

export type Bar = { readonly atMost: number } | { readonly atLeast: number };

export const cpuMs = ({ serverCpuMs, postgresCpuMs }: LoadReport) => serverCpuMs + postgresCpuMs;
export const cpuUsPerDecision = (report: LoadReport) => (cpuMs(report) * 1000) / report.allowed;

export function figuresOf({ rounds, alone, fsyncsPerDecision }: Measured): Figure[] {
  return [
    figure(
      'CPU per ALLOW, svc against floor',
      rounds.map(({ svc, floor }) => cpuUsPerDecision(svc) / cpuUsPerDecision(floor)),
      { atMost: 2 },
      { atMost: 1.5 },
    ),
    figure(
      'decisions/s at 64 connections, svc against plain',
      rounds.map(({ svc, plain }) => perSecond(svc) / perSecond(plain)),
      { atLeast: 3 },
      { atLeast: 3.5 },
    ),
    figure(
      'p50 at 1 connection, svc against one commit alone',
      alone.map(({ svc, commit }) => svc / commit),
      { atMost: 4 },
      { atMost: 4 },
    ),
    figure(
      'fsyncs per decision at 64 connections, svc',
      [fsyncsPerDecision.svc],
      { atMost: 0.05 },
      { atMost: 0.05 },
    ),
  ];
}

function figure(what: string, values: readonly number[], bar: Bar, goal: Bar): Figure {
  const value = median(values);
  const verdict = meets(value, goal) ? 'goal reached' : meets(value, bar) ? 'bar reached' : 'BAR MISSED';
  return { what, value, least: Math.min(...values), most: Math.max(...values), bar, goal, verdict };
}

const meets = (value: number, bar: Bar) => ('atMost' in bar ? value <= bar.atMost : value >= bar.atLeast);
