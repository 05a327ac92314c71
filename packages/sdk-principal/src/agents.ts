/**
 * The inventory of Agents, and the call that revokes all Grants of an Agent (interface §Agent, §Principal lifecycle).
 */
import {
  type Agent,
  type CallOptions,
  checkValue,
  didKey,
  readAgent,
  readAgentDisabled,
  rule,
  SvcError,
  type Transport,
} from '@svc/sdk-core';
import type { Patience } from './patience.ts';

/** The result of `disable`. */
export interface DisabledAgent {
  did: string;
  /** No ALLOW under `revokedGrants` has a later date. */
  disabledAt: string;
  /** Every Grant of the Principal that names the Agent. */
  revokedGrants: string[];
}

/** The Principal's inventory of Agents. Also revokes all Grants of an Agent at once. */
export interface Agents {
  /**
   * Adds an Agent to the inventory. Grants may also name Agents that are not in it.
   * @throws SvcError `refused` with status 409 if the Agent is already there. `outcome-unknown` with code `CONFLICT` if
   * it is there now, and an earlier attempt whose answer was lost or was a 503 may have added it
   */
  register(did: string, options?: CallOptions): Promise<Agent>;
  /**
   * Revokes every Grant that names the Agent; returns once that is in force everywhere. Repeatable; repeat it to revoke
   * also Grants that were allocated to the Agent meanwhile. The Agent can get new Grants afterwards. The call has at
   * least 45 seconds unless `timeoutMs` is given here.
   * @throws SvcError after a bounded number of attempts. Grants may then still be in force, so call again.
   */
  disable(did: string, options?: CallOptions): Promise<DisabledAgent>;
}

/** Room for more than a million Grant ids. */
const MAX_DISABLED_BYTES = 67_108_864;

export function createAgents(transport: Transport, patience: Patience): Agents {
  return {
    async register(did, call = {}) {
      checkValue('did', did, anAgentDid);
      const sent = { method: 'POST', path: '/agents', body: { did }, hasEffect: true } as const;
      const answer = await transport.send({ ...sent, ...call });
      const agent = readAgent(answer.body, 'the Agent');
      if (agent.did !== did) throw aboutAnother(answer);
      return agent;
    },
    async disable(did, call = {}) {
      checkValue('did', did, anAgentDid);
      const path = `/agents/${encodeURIComponent(did)}/disable`;
      const sent = { method: 'POST', path, hasEffect: true, maxResponseBytes: MAX_DISABLED_BYTES } as const;
      const answer = await transport.send({ ...sent, ...patience, ...call });
      const disabled = readAgentDisabled(answer.body, 'the Agent');
      if (disabled.did !== did) throw aboutAnother(answer);
      return { did, disabledAt: disabled.disabled_at, revokedGrants: disabled.revoked_grants };
    },
  };
}

const anAgentDid = rule('the did:key DID of an Ed25519 key', didKey.isMet);

const aboutAnother = (answer: { status: number; requestId: string | null }): SvcError =>
  new SvcError('bad-response', 'the service answered about another Agent', answer);
