/** `POST /orgs`. */
import type { Routes } from '@svc/contract';
import { createOrg as create, type ServiceDeps } from '@svc/service';
import type { Handler } from '../../http/index.ts';
import { presentOrg } from '../../endpoints/orgs.ts';

export const createOrg =
  (deps: ServiceDeps): Handler<Routes['createOrg']> =>
  async ({ body }) => ({ status: 201, body: presentOrg(await create(deps, body)) });
