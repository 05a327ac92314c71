/** `POST /relying-parties`. */
import type { Routes } from '@svc/contract';
import { createRelyingParty as create, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentRelyingPartyCreated } from '../../present/relying-party.ts';
import { availableProfile } from './available-profile.ts';

export const createRelyingParty =
  (deps: ServiceDeps): Handler<Routes['createRelyingParty']> =>
  async ({ caller, body, requestId }) => {
    const created = await create(
      deps,
      caller,
      { ...body, profile: availableProfile(body.profile) },
      requestId,
    );
    return { status: 201, body: presentRelyingPartyCreated(created) };
  };
