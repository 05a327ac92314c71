/** Decisions of a period and their outcomes, by Principal (interface §DecisionStats). */
import {
  type CallOptions,
  type DecisionStats,
  instant,
  readDecisionStats,
  type Transport,
} from '@svc/sdk-core';

/** Which decisions to count. */
export interface StatsFilter {
  /** Decisions at this instant or later. Unless given: 29 days ago, 00:00 UTC. */
  since?: Date | string;
  /** Decisions before this instant, at most 366 days after `since`. Unless given: tomorrow, 00:00 UTC. */
  until?: Date | string;
  /** Decisions about the Grants of one Principal, by its DID. */
  principal?: string;
}

export async function getDecisionStats(
  transport: Transport,
  { since, until, ...filter }: StatsFilter,
  call: CallOptions,
): Promise<DecisionStats> {
  const query = { ...filter, ...instant('since', since), ...instant('until', until) };
  const path = '/decisions/stats';
  const { body } = await transport.send({ method: 'GET', path, query, hasEffect: false, ...call });
  return readDecisionStats(body, 'the statistics');
}
