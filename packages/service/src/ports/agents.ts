/** The inventory of Agents, which no decision consults. */
import type { DidKey, DidWeb } from '@svc/protocol';

/** An Agent as a Principal has registered it. This is an inventory: no decision reads it. */
export interface AgentRecord {
  readonly did: DidKey;
  readonly principal: DidWeb;
  readonly createdAtMs: number;
  readonly disabledAtMs: number | null;
}

export interface AgentRepository {
  /** Number of Agents that a Principal has registered. */
  count(principal: DidWeb): Promise<number>;
  /** Rejects with `conflict` when this Principal has registered the Agent already. */
  insert(principal: DidWeb, did: DidKey): Promise<AgentRecord>;
  find(principal: DidWeb, did: DidKey): Promise<AgentRecord | null>;
  /** Records the Agent as disabled now, also where it was disabled before. Null when the Agent is not registered. */
  setDisabled(principal: DidWeb, did: DidKey): Promise<AgentRecord | null>;
}
