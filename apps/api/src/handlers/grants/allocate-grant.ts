/** `POST /grants`: reserves a Grant id and a status entry for the calling Principal. */
import type { Routes } from '@svc/contract';
import { parseDidKey } from '@svc/protocol';
import { allocateGrant as allocate, invalidRequest, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentAllocation } from '../../present/grant.ts';

export const allocateGrant =
  (deps: ServiceDeps): Handler<Routes['allocateGrant']> =>
  async ({ caller, body, requestId }) => {
    const agent = parseDidKey(body.agent);
    if (agent === null || !deps.crypto.isStrictKey(agent.publicKey))
      throw invalidRequest(
        'agent: must be did:key:z6Mk… of a canonical Ed25519 key in the prime-order subgroup',
      );
    return { status: 201, body: presentAllocation(await allocate(deps, caller, agent.did, requestId)) };
  };
