/** The records of the interface that these pages read, as the contract declares them. Types only. */
import type { Body, Routes } from '@svc/contract';
import type { Capability } from '@svc/protocol';

export type Me = Body<Routes['getMe'], 200>;
export type Usage = Body<Routes['getUsage'], 200>;
export type DecisionStats = Body<Routes['getDecisionStats'], 200>;
export type DecisionList = Body<Routes['listDecisions'], 200>;
export type DecisionSummary = DecisionList['decisions'][number];
export type Decision = Body<Routes['getDecision'], 200>;
export type Attestation = Decision['outcomes'][number];
export type Checkpoint = Body<Routes['getCheckpoint'], 200>;
export type InclusionProof = Body<Routes['getInclusion'], 200>;
export type InclusionPending = Body<Routes['getInclusion'], 202>;

/** Interface §Self-serve and sandbox records. */
export interface DemoInfo {
  readonly principal: string;
  readonly agent: string;
  readonly rp: string;
  readonly authority: Capability;
  readonly grant_lifetime_seconds: number;
  readonly request: { readonly method?: string; readonly url?: string };
  readonly amount_cap: number;
  readonly rate_limit_per_minute: number;
}

export interface PurchaseAction {
  readonly type: 'commerce:purchase';
  readonly resource: string;
  readonly amount: number;
  readonly currency: string;
}

export interface DemoMint {
  readonly grant: string;
  readonly proof: string;
  readonly action: PurchaseAction;
  readonly rp: string;
  readonly grant_id: string;
  readonly agent: string;
  readonly principal: string;
  readonly request: { readonly method?: string; readonly url?: string };
  readonly authority: Capability;
  readonly valid_until: string;
  readonly grant_lifetime_seconds: number;
}

export interface VerifyRequest {
  readonly grant: string;
  readonly proof: string;
  readonly action: PurchaseAction;
}
