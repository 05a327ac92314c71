/** What the supervisor and its processes say to each other over the channel that node:cluster opens, as structured clones. */
import type { Readiness } from '@svc/process';
import type { MetricObject, MetricValue } from 'prom-client';

/** A metric with its values, as a registry tells it and the aggregation of prom-client takes it. */
export interface MetricSnapshot extends MetricObject {
  values: MetricValue<string>[];
}

/**
 * What a process is asked. Answered with nothing: `ping`; `handOver`, by which it hears that another process has taken its
 * place, and that it has longer than at a stop to finish what is under way; and `hurry`, that it has no longer any more.
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

/** `listening`: it takes requests from now on. `last`: its counts, as it ends. */
export type MemberMessage =
  | { readonly tell: 'answer'; readonly id: number; readonly value: Answers[QuestionKind] }
  | { readonly tell: 'listening'; readonly address: string; readonly port: number }
  | { readonly tell: 'last'; readonly metrics: readonly MetricSnapshot[] };

export const isQuestion = (message: unknown): message is Question =>
  typeof message === 'object' && message !== null && 'ask' in message && 'id' in message;

export const isMemberMessage = (message: unknown): message is MemberMessage =>
  typeof message === 'object' && message !== null && 'tell' in message;
