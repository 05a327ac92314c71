/** Self-serve: the console signs tenants up, and shows them their first ALLOW. */
import type { SelfServeLimits } from '@svc/config';
import type { Routes } from '@svc/contract';
import {
  type Authenticator,
  findRpCaller,
  getSelfServeRelyingParty,
  invalidRequest,
  issueStarter,
  type Sandbox,
  type ServiceDeps,
  signUp as signUpTenant,
  Turnstile,
} from '@svc/service';
import { type Handler, limiterKeyOf, RateLimiter } from '../http/index.ts';
import { presentBundle, presentStarter } from '../present/self-serve.ts';
import { offered } from './offered.ts';
import type { Decide } from './decide.ts';

export interface SelfServeDeps {
  readonly service: ServiceDeps;
  readonly authenticator: Pick<Authenticator, 'readAgain'>;
  readonly decide: Decide;
  readonly selfServe: SelfServe | null;
}

export interface SelfServe {
  readonly sandbox: Sandbox;
  readonly limits: SelfServeLimits;
}

/** Of this node. */
interface Bounds {
  readonly customers: RateLimiter;
  readonly relyingParties: RateLimiter;
  readonly signUps: Turnstile;
}

const SIGN_UPS_AT_ONCE = 4;
const SIGN_UPS_IN_LINE = 256;

export const buildSelfServeHandlers = (deps: SelfServeDeps) => {
  const { clock } = deps.service;
  const bounds: Bounds = {
    customers: new RateLimiter(clock, undefined, 'hour'),
    relyingParties: new RateLimiter(clock, undefined, 'hour'),
    signUps: new Turnstile(SIGN_UPS_AT_ONCE, SIGN_UPS_IN_LINE),
  };
  return {
    signUp: signUp(deps, bounds),
    getStarter: getStarter(deps, bounds),
    getFirstReceipt: getFirstReceipt(deps, bounds),
  };
};

const signUp =
  ({ service, selfServe }: SelfServeDeps, { customers, signUps }: Bounds): Handler<Routes['signUp']> =>
  async ({ caller, body, clientIp, requestId, holdTo }) => {
    const { sandbox, limits } = offered(selfServe);
    holdTo(customers.take(limiterKeyOf(clientIp), limits.ipPerHour));
    const options = { sandbox, perDay: limits.orgsPerDay };
    const bundle = await signUps.run(() => signUpTenant(service, options, caller, body, requestId));
    return { status: 201, body: presentBundle(service.identity.baseUrl, bundle) };
  };

const getStarter =
  ({ service, selfServe }: SelfServeDeps, { relyingParties }: Bounds): Handler<Routes['getStarter']> =>
  async ({ body, requestId, holdTo }) => {
    const { sandbox, limits } = offered(selfServe);
    const relyingParty = await getSelfServeRelyingParty(service, body.rp_did);
    holdTo(relyingParties.take(relyingParty.did, limits.relyingPartyPerHour));
    const starter = await issueStarter(service, sandbox, relyingParty, requestId);
    return { status: 200, body: presentStarter(service.identity.baseUrl, starter) };
  };

const getFirstReceipt =
  (
    { service, authenticator, decide, selfServe }: SelfServeDeps,
    { relyingParties }: Bounds,
  ): Handler<Routes['getFirstReceipt']> =>
  async ({ body, requestId, holdTo }) => {
    const { sandbox, limits } = offered(selfServe);
    const relyingParty = await getSelfServeRelyingParty(service, body.rp_did);
    holdTo(relyingParties.take(relyingParty.did, limits.relyingPartyPerHour));
    const caller = await findRpCaller(service, authenticator, relyingParty.did);
    if (caller === null) throw invalidRequest('rp_did: this relying party has no live API key.');
    const { grant, proof, action } = await issueStarter(service, sandbox, relyingParty, requestId);
    const answer = await decide(caller, { grant, proof, action: { ...action } });
    return { status: 200, rawBody: answer.text };
  };
