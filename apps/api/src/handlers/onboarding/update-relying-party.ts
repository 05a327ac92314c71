/** `PATCH /relying-parties/{did}`. */
import type { Routes } from '@svc/contract';
import { type RelyingPartyChange, type ServiceDeps, updateRelyingParty as update } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentRelyingParty } from '../../endpoints/relying-parties.ts';

export const updateRelyingParty =
  (deps: ServiceDeps): Handler<Routes['updateRelyingParty']> =>
  async ({ caller, params, body, requestId }) => {
    const change: RelyingPartyChange = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.proof_window_seconds === undefined ? {} : { proofWindowSeconds: body.proof_window_seconds }),
      ...(body.verify_rate_limit_per_minute === undefined
        ? {}
        : { verifyRateLimitPerMinute: body.verify_rate_limit_per_minute }),
      ...(body.profile === undefined ? {} : { profile: body.profile }),
    };
    return {
      status: 200,
      body: presentRelyingParty(await update(deps, caller, params.did, change, requestId)),
    };
  };
