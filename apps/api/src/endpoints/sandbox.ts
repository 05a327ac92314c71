/** The sandbox's four endpoints. Nobody is authenticated: whatever is done is done by the sandbox's own parties. */
import type { Routes } from '@svc/contract';
import {
  type Authenticator,
  DEMO_AMOUNT_CAP_MINOR,
  DEMO_MAX_AMOUNT_MINOR,
  findRpCaller,
  mintDemo as mint,
  revokeDemo as revoke,
  SANDBOX_GRANT_SECONDS,
  SANDBOX_REQUEST,
  type Sandbox,
  type ServiceDeps,
  sandboxAuthority,
  serviceUnavailable,
} from '@svc/service';
import type { Handler } from '../http/index.ts';
import { presentRevocation } from './grants.ts';
import { offered } from './offered.ts';
import type { Decide } from './decide.ts';

export interface DemoDeps {
  readonly service: ServiceDeps;
  readonly authenticator: Pick<Authenticator, 'readAgain'>;
  readonly decide: Decide;
  readonly demo: Demo | null;
}

export interface Demo {
  readonly sandbox: Sandbox;
  /** Calls of one address, per node. */
  readonly perMinute: number;
}

export const buildDemoHandlers = (deps: DemoDeps) => ({
  getDemoInfo: getDemoInfo(deps),
  mintDemo: mintDemo(deps),
  verifyDemo: verifyDemo(deps),
  revokeDemo: revokeDemo(deps),
});

const presentSandbox = ({ principal, agent, relyingParty }: Sandbox) => ({
  principal,
  agent: agent.did,
  rp: relyingParty,
  authority: sandboxAuthority(DEMO_MAX_AMOUNT_MINOR),
  grant_lifetime_seconds: SANDBOX_GRANT_SECONDS,
  request: SANDBOX_REQUEST,
});

const getDemoInfo =
  ({ demo }: DemoDeps): Handler<Routes['getDemoInfo']> =>
  async () => {
    const { sandbox, perMinute } = offered(demo);
    const limits = { amount_cap: DEMO_AMOUNT_CAP_MINOR, rate_limit_per_minute: perMinute };
    return { status: 200, body: { ...presentSandbox(sandbox), ...limits } };
  };

const mintDemo =
  ({ service, demo }: DemoDeps): Handler<Routes['mintDemo']> =>
  async ({ body, requestId }) => {
    const { sandbox } = offered(demo);
    const ticket = await mint(service, sandbox, body.amount, requestId);
    const { grant, proof, action, grantId, validUntil } = ticket;
    const minted = { grant, proof, action, grant_id: grantId, valid_until: validUntil };
    return { status: 200, body: { ...minted, ...presentSandbox(sandbox) } };
  };

const verifyDemo =
  ({ service, authenticator, decide, demo }: DemoDeps): Handler<Routes['verifyDemo']> =>
  async ({ body }) => {
    const { relyingParty } = offered(demo).sandbox;
    const caller = await findRpCaller(service, authenticator, relyingParty);
    if (caller === null)
      throw serviceUnavailable('the sandbox’s relying party has no live key; a restart makes one');
    return { status: 200, rawBody: (await decide(caller, body)).text };
  };

const revokeDemo =
  ({ service, demo }: DemoDeps): Handler<Routes['revokeDemo']> =>
  async ({ body, requestId }) => ({
    status: 200,
    body: presentRevocation(await revoke(service, offered(demo).sandbox, body.grant_id, requestId)),
  });
