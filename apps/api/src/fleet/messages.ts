/** Messages between the supervisor and its processes over the channel of node:cluster, as structured clones. */
import type { Readiness } from '@svc/process';
import type { MetricObject, MetricValue } from 'prom-client';

/** A metric with its values, as a registry exports it and the aggregation of prom-client accepts it. */
export interface MetricSnapshot extends MetricObject {
  values: MetricValue<string>[];
}

/**
 * Questions to a process, with the type of the answer. These have an empty answer:
 *
 * - `ping`;
 * - `handOver`: another process has taken this one's place, and there is more time than at a stop to finish what is
 *   under way;
 * - `hurry`: the extra time of a hand-over is over.
 */
export interface Answers {
  readonly ping: null;
  readonly handOver: null;
  readonly hurry: null;
  readonly readiness: Readiness;
  readonly metrics: readonly MetricSnapshot[];
}

export type QuestionKind = keyof Answers;

export interface Question {
  readonly ask: QuestionKind;
  readonly id: number;
}

/** `listening`: the process takes requests from now on. `last`: its final counts. */
export type MemberMessage =
  | { readonly tell: 'answer'; readonly id: number; readonly value: Answers[QuestionKind] }
  | { readonly tell: 'listening'; readonly address: string; readonly port: number }
  | { readonly tell: 'last'; readonly metrics: readonly MetricSnapshot[] };

export const isQuestion = (message: unknown): message is Question =>
  typeof message === 'object' && message !== null && 'ask' in message && 'id' in message;

export const isMemberMessage = (message: unknown): message is MemberMessage =>
  typeof message === 'object' && message !== null && 'tell' in message;
