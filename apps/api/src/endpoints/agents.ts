/** The inventory of Agents and the kill switch (interface §Agent). */
import type { Body, Routes } from '@svc/contract';
import { type DidKey, formatTimestamp, parseDidKey } from '@svc/protocol';
import {
  type AgentRecord,
  actingPrincipal,
  type DisabledAgent,
  disableAgent,
  invalidRequest,
  registerAgent,
  type ServiceDeps,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

export const agentEndpoints = (deps: ServiceDeps): HandlersOf<'agents'> => ({
  registerAgent: async ({ caller, query, body, requestId }) => {
    const did = parseStrictAgent(deps, 'did', body.did);
    const principal = await actingPrincipal(deps, caller, query.principal);
    return { status: 201, body: presentAgent(await registerAgent(deps, caller, principal, did, requestId)) };
  },

  disableAgent: async ({ caller, params, query, requestId }) => {
    const principal = await actingPrincipal(deps, caller, query.principal);
    const disabled = await disableAgent(deps, { caller, principal, agent: params.did, requestId });
    return { status: 200, body: presentDisabledAgent(disabled) };
  },
});

/** An Agent as named in a request. Throws INVALID_REQUEST for a key under which no Proof can verify. */
export const parseStrictAgent = (
  { crypto }: Pick<ServiceDeps, 'crypto'>,
  member: string,
  text: string,
): DidKey => {
  const agent = parseDidKey(text);
  if (agent !== null && crypto.isStrictKey(agent.publicKey)) return agent.did;
  throw invalidRequest(
    `${member}: must be did:key:z6Mk… of a canonical Ed25519 key in the prime-order subgroup`,
  );
};

const presentAgent = ({ did, principal, createdAtMs }: AgentRecord): Body<Routes['registerAgent'], 201> => ({
  did,
  principal,
  created_at: formatTimestamp(createdAtMs),
});

const presentDisabledAgent = ({
  did,
  disabledAtMs,
  revokedGrants,
}: DisabledAgent): Body<Routes['disableAgent'], 200> => ({
  did,
  disabled_at: formatTimestamp(disabledAtMs),
  revoked_grants: [...revokedGrants],
});
