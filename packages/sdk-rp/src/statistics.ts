/** What was decided in a period, and what came of it, Principal by Principal (interface §DecisionStats). */
import {
  type CallOptions,
  type DecisionStats,
  didWeb,
  instant,
  integer,
  list,
  mapOf,
  nullable,
  optional,
  type PrincipalStats,
  record,
  type Transport,
  timestamp,
} from '@svc/sdk-core';

export interface StatsFilter {
  /** Decisions of this instant or later. Unless given: 29 days ago, 00:00 UTC. */
  since?: Date | string;
  /** Decisions before this instant, at most 366 days after `since`. Unless given: tomorrow, 00:00 UTC. */
  until?: Date | string;
  principal?: string;
}

const counts = { verifies: integer, allow: integer, deny: integer };

export const readDecisionStats = record<DecisionStats>({
  since: timestamp,
  until: timestamp,
  rps: optional(list(didWeb)),
  totals: record<DecisionStats['totals']>({ ...counts, allow_with_outcome: integer }),
  principals: list(
    record<PrincipalStats>({
      principal: nullable(didWeb),
      ...counts,
      reasons: mapOf(integer),
      outcomes: mapOf(integer),
      losses: mapOf(integer),
      allow_with_outcome: integer,
    }),
  ),
});

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
