/** Pauses (protocol §9). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  type Caller,
  internal,
  listPauses,
  orgOfCaller,
  type PauseAsked,
  type PauseRecord,
  pauseTargetOf,
  type ServiceDeps,
  setPause,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { formatTimestampOrNull } from './format-timestamp-or-null.ts';

interface Order {
  readonly caller: Caller;
  readonly query: { readonly principal?: PauseAsked['principal'] };
  readonly body: Pick<PauseAsked, 'scope' | 'subject'> & { readonly reason?: string | undefined };
  readonly requestId: string;
}

export const pauseEndpoints = (deps: ServiceDeps): HandlersOf<'pauses'> => {
  const set = async ({ caller, query, body, requestId }: Order, isPaused: boolean) => {
    const { scope, subject, reason = null } = body;
    const target = await pauseTargetOf(deps, caller, { scope, subject, principal: query.principal });
    return { target, ...(await setPause(deps, { caller, target, isPaused, reason, requestId })) };
  };
  return {
    pause: async (order) => {
      const { record, atMs } = await set(order, true);
      if (record === null) throw internal('paused without a record');
      return { status: 200, body: presentPause({ ...record, visibleAtMs: atMs }, order.caller) };
    },

    resume: async (order) => {
      const { target, atMs } = await set(order, false);
      const { scope, subject } = target;
      return { status: 200, body: { scope, subject, paused: false, resumed_at: formatTimestamp(atMs) } };
    },

    listPauses: async ({ caller, query }) => {
      const { items, nextCursor } = await listPauses(deps, caller, query);
      return {
        status: 200,
        body: { pauses: items.map((one) => presentPause(one, caller)), next_cursor: nextCursor },
      };
    },
  };
};

const presentPause = (
  { scope, owner, subject, reason, actor, visibleAtMs }: PauseRecord,
  caller: Caller,
): Body<Routes['pause'], 200> => ({
  scope,
  subject,
  principal: scope === 'grant' || scope === 'agent' ? owner : null,
  reason,
  paused_by: {
    kind: actor.kind,
    did: mayKnow(actor, caller) ? actor.did : null,
    key_id: mayKnowKey(actor, owner, caller) ? actor.keyId : null,
  },
  paused_at: formatTimestampOrNull(visibleAtMs),
});

/**
 * Whether the caller may see the actor's DID. If an earlier org of the owner paused it, the present org does not see
 * which.
 */
const mayKnow = ({ kind, did }: PauseRecord['actor'], caller: Caller): boolean =>
  caller.class === 'admin' || kind !== 'org' || did === orgOfCaller(caller);

/**
 * Whether the caller may see the actor's key id. An org sees the keys of its member that owns what is paused; members
 * do not see the keys of their org.
 */
const mayKnowKey = ({ did }: PauseRecord['actor'], owner: string, caller: Caller): boolean =>
  caller.class === 'admin' || did === caller.subject || (caller.class === 'org' && did === owner);
