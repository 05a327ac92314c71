/** Decisions as the interface presents them (interface §DecisionSummary). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import type { DecisionRecord } from '@svc/service';

export type DecisionSummary = Body<Routes['listDecisions'], 200>['decisions'][number];

export const presentDecisionSummary = (decision: DecisionRecord): DecisionSummary => ({
  receipt_id: decision.receiptId,
  decision: decision.decision,
  reason: decision.reason,
  evaluated_at: formatTimestamp(decision.evaluatedAtMs),
  principal: decision.principal,
  grant_id: decision.grantId,
  agent: decision.agent,
  rp: decision.relyingParty,
  key_id: decision.keyId,
  action_type: decision.actionType,
  amount: decision.amount,
  currency: decision.currency,
  resource: decision.resource,
  method: decision.method,
});
