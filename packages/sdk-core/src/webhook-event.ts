/** The events of the service, as they are sent to endpoints (protocol §15). */

export interface DecisionEventData {
  readonly receipt_id: string;
  readonly relying_party: string;
  /** Null unless the Grant is known to be from a verified Principal. */
  readonly principal: string | null;
  readonly grant_id: string | null;
  readonly agent: string | null;
}

/** The data of an event about a request for approval; `status` is that of its `task`. */
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
  /**
   * `percent`: the subscription's threshold. `key`: the total of the Grant, as `capabilities[].key` of its consumption.
   */
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

/** The event types that are listed here; compare the `type` of an event with them. */
export type WebhookEventType = keyof WebhookEventData;

/** An event: switch on `type`. A newer service may send types that are not listed here, if you subscribe to them. */
export type WebhookEvent = {
  readonly [Type in WebhookEventType]: {
    /** `webhook-id`: the same each time the event arrives. Store the ids of the events that you have handled. */
    readonly id: string;
    readonly type: Type;
    /** When it happened: RFC 3339, UTC. */
    readonly timestamp: string;
    readonly subscription_id: string;
    readonly data: WebhookEventData[Type];
  };
}[WebhookEventType];
