/** The events of the service, as they are sent to endpoints (protocol §15). */

export interface DecisionEventData {
  readonly receipt_id: string;
  readonly relying_party: string;
  /** Null: the Grant is not known to be of a verified Principal. */
  readonly principal: string | null;
  readonly grant_id: string | null;
  readonly agent: string | null;
}

/** The data of an event about a request for approval; `status` as of its `task`. */
export interface ApprovalEventData {
  readonly request_id: string;
  readonly status: 'pending' | 'approved' | 'denied' | 'expired' | 'cancelled';
  readonly relying_party: string;
  readonly principal: string;
  /** The Grant under which the Action was denied. */
  readonly grant_id: string;
  readonly agent: string;
}

/** `data` of an event, by its type. */
export interface WebhookEventData {
  readonly 'decision.allow': DecisionEventData;
  readonly 'decision.deny': DecisionEventData;
  readonly 'grant.revoked': { readonly grant_id: string; readonly principal: string; readonly agent: string };
  readonly 'agent.disabled': { readonly agent: string; readonly principal: string };
  readonly 'key.retired': { readonly kid: string; readonly principal: string };
  readonly 'key.compromised': { readonly kid: string; readonly principal: string };
  readonly 'principal.verified': { readonly principal: string };
  readonly 'principal.unverified': { readonly principal: string };
  /** `day`: UTC, YYYY-MM-DD. */
  readonly 'checkpoint.published': { readonly day: string };
  readonly 'outcome.reported': {
    readonly attestation_id: string;
    readonly receipt_id: string;
    readonly relying_party: string;
    readonly principal: string | null;
    readonly grant_id: string | null;
  };
  /** `percent`: the share of the subscription. `key`: which total of the Grant, as `capabilities[].key` of its consumption. */
  readonly 'budget.low': {
    readonly grant_id: string;
    readonly principal: string;
    readonly key: string;
    readonly percent: number;
  };
  readonly 'pause.changed': {
    readonly scope: 'grant' | 'agent' | 'principal' | 'relying_party' | 'org' | 'service';
    readonly subject: string;
    readonly paused: boolean;
  };
  readonly 'approval.requested': ApprovalEventData;
  readonly 'approval.decided': ApprovalEventData;
  readonly ping: { readonly subscription_id: string };
}

/** The types of events that are named here: what `type` of an event is compared with. */
export type WebhookEventType = keyof WebhookEventData;

/** An event: switch on `type`. A later service may send types that are not named here, if you subscribe to them. */
export type WebhookEvent = {
  readonly [Type in WebhookEventType]: {
    /** `webhook-id`: the same each time that the event arrives. Remember those that were handled. */
    readonly id: string;
    readonly type: Type;
    /** When it happened: RFC 3339, UTC. */
    readonly timestamp: string;
    readonly subscription_id: string;
    readonly data: WebhookEventData[Type];
  };
}[WebhookEventType];
