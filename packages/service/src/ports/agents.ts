/** The inventory of Agents, which no decision consults. */
import type { DidKey, DidWeb } from '@svc/protocol';

/** A Principal's note of an Agent: inventory, which no decision consults. */
export interface AgentRecord {
  readonly did: DidKey;
  readonly principal: DidWeb;
  readonly createdAtMs: number;
  readonly disabledAtMs: number | null;
}

export interface AgentRepository {
  /** How many a Principal has. */
  count(principal: DidWeb): Promise<number>;
  /** Conflict when this Principal has registered the Agent already. */
  insert(principal: DidWeb, did: DidKey): Promise<AgentRecord>;
  find(principal: DidWeb, did: DidKey): Promise<AgentRecord | null>;
  /** Dates the disabling now; the latest one counts. Null when the Agent is not registered. */
  setDisabled(principal: DidWeb, did: DidKey): Promise<AgentRecord | null>;
}
