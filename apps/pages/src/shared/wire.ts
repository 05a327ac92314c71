/** The records of the interface that these pages read, as the contract declares them. Types only. */
import type { Body, Routes } from '@svc/contract';

export type Me = Body<Routes['getMe'], 200>;
export type Usage = Body<Routes['getUsage'], 200>;
export type DecisionStats = Body<Routes['getDecisionStats'], 200>;
export type DecisionList = Body<Routes['listDecisions'], 200>;
export type DecisionSummary = DecisionList['decisions'][number];
export type Decision = Body<Routes['getDecision'], 200>;
export type OutcomeRecord = Decision['outcomes'][number];
export type Activity = Body<Routes['getPrincipalActivity'], 200>;
export type ActivityGroup = Activity['groups'][number];
export type GrantList = Body<Routes['listGrants'], 200>;
export type GrantSummary = GrantList['grants'][number];
export type Consumption = Body<Routes['getGrantConsumption'], 200>;
export type Balance = Consumption['capabilities'][number];
export type AccessRequestList = Body<Routes['listApprovals'], 200>;
export type PauseList = Body<Routes['listPauses'], 200>;
export type Pause = PauseList['pauses'][number];
export type Subscription = Body<Routes['listEventSubscriptions'], 200>['subscriptions'][number];
export type SubscriptionCreated = Body<Routes['createEventSubscription'], 201>;
export type SecretRotated = Body<Routes['rotateEventSecret'], 200>;
export type DeliveryList = Body<Routes['listEventDeliveries'], 200>;
export type Delivery = DeliveryList['deliveries'][number];
export type EventType = Subscription['types'][number];
export type Checkpoint = Body<Routes['getCheckpoint'], 200>;
export type Restore = Body<Routes['listRestores'], 200>['restores'][number];
export type InclusionProof = Body<Routes['getInclusion'], 200>;
export type Attestation = Body<Routes['getAttestation'], 200>;
export type InclusionPending = Body<Routes['getInclusion'], 202>;
export type Metrics = Body<Routes['getMetrics'], 200>;
export type DemoInfo = Body<Routes['getDemoInfo'], 200>;
export type DemoApproval = Body<Routes['approveDemo'], 200>;
export type DemoMint = Body<Routes['mintDemo'], 200>;
/** The request that the sandbox's relying party sends. */
export type VerifyRequest = Pick<DemoMint, 'grant' | 'proof' | 'action'>;
