/** Self-serve: the console signs tenants up, and shows them their first ALLOW (interface §Self-serve). */
import type { SelfServeLimits } from '@svc/config';
import { type Body, type Routes, routes } from '@svc/contract';
import { formatSeconds, type ProfileId } from '@svc/protocol';
import {
  type Authenticator,
  findRpCaller,
  getSelfServeRelyingParty,
  invalidRequest,
  issueStarter,
  type Sandbox,
  type SelfServeBundle,
  Semaphore,
  type ServiceDeps,
  type Starter,
  serviceUnavailable,
  signUp,
} from '@svc/service';
import { AddressLimiter, type Allowance, type HandlersOf, RateLimiter } from '../http/index.ts';
import { quoteForShell } from '../quote-for-shell.ts';
import type { Decide } from './decide.ts';
import { offered } from './offered.ts';
import { presentOrg } from './orgs.ts';

export interface SelfServeDeps {
  readonly service: ServiceDeps;
  readonly authenticator: Pick<Authenticator, 'readAgain'>;
  readonly decide: Decide;
  /** Null: the deployment does not offer it. */
  readonly selfServe: SelfServe | null;
}

export interface SelfServe {
  readonly sandbox: Sandbox;
  readonly limits: SelfServeLimits;
}

const SIGN_UPS_AT_ONCE = 4;
const SIGN_UPS_WAITING = 256;

export const selfServeEndpoints = ({
  service,
  authenticator,
  decide,
  selfServe,
}: SelfServeDeps): HandlersOf<'self-serve'> => {
  const { baseUrl } = service.identity;
  // These limits apply per node.
  const perCustomer = new AddressLimiter(service.clock, undefined, 'hour');
  const perRelyingParty = new RateLimiter(service.clock, undefined, 'hour');
  const signUps = new Semaphore({
    atOnce: SIGN_UPS_AT_ONCE,
    maxWaiting: SIGN_UPS_WAITING,
    full: () => serviceUnavailable('too many sign-ups wait'),
  });
  /** The relying party with that DID, after counting the call against its limit. */
  const findLimited = async (did: string, enforceLimit: (allowance: Allowance) => void) => {
    const { sandbox, limits } = offered(selfServe);
    const relyingParty = await getSelfServeRelyingParty(service, did);
    enforceLimit(perRelyingParty.take(relyingParty.did, limits.relyingPartyPerHour));
    return { sandbox, relyingParty };
  };
  return {
    signUp: async ({ caller, body, clientIp, requestId, enforceLimit }) => {
      const { sandbox, limits } = offered(selfServe);
      enforceLimit(perCustomer.take(clientIp, limits.ipPerHour));
      const options = { sandbox, perDay: limits.orgsPerDay };
      const bundle = await signUps.run(() => signUp(service, options, caller, body, requestId));
      return { status: 201, body: presentBundle(baseUrl, bundle) };
    },

    getStarter: async ({ body, requestId, enforceLimit }) => {
      const { sandbox, relyingParty } = await findLimited(body.rp_did, enforceLimit);
      const starter = await issueStarter(service, sandbox, relyingParty, requestId);
      return { status: 200, body: presentStarter(baseUrl, starter) };
    },

    getFirstReceipt: async ({ body, requestId, enforceLimit }) => {
      const { sandbox, relyingParty } = await findLimited(body.rp_did, enforceLimit);
      const caller = await findRpCaller(service, authenticator, relyingParty.did);
      if (caller === null) throw invalidRequest('rp_did: this relying party has no live API key.');
      const { grant, proof, action } = await issueStarter(service, sandbox, relyingParty, requestId);
      const answer = await decide(caller, { grant, proof, action: { ...action } });
      return { status: 200, rawBody: answer.text };
    },
  };
};

const presentBundle = (
  baseUrl: string,
  { org, orgAdminKey, relyingParty, rpVerifyKey, starter }: SelfServeBundle,
): Body<Routes['signUp'], 201> => ({
  org: presentOrg(org),
  org_admin_key: orgAdminKey,
  relying_party: {
    did: relyingParty.did,
    name: relyingParty.name,
    // This version has just set it.
    profile: relyingParty.profile as ProfileId,
    proof_window_seconds: relyingParty.proofWindowSeconds,
  },
  rp_verify_key: rpVerifyKey,
  starter: presentStarter(baseUrl, starter),
});

const presentStarter = (
  baseUrl: string,
  { grant, proof, action, grantId, expiresAtMs }: Starter,
): Body<Routes['getStarter'], 200> => {
  const verifyUrl = baseUrl + routes.verify.path;
  return {
    grant,
    proof,
    action,
    grant_id: grantId,
    expires_at: formatSeconds(expiresAtMs),
    verify_url: verifyUrl,
    verify_curl: curlOf(verifyUrl, JSON.stringify({ grant, proof, action })),
  };
};

/** The command for a POSIX shell. The reader replaces `<rp_verify_key>` by the key. */
const curlOf = (url: string, body: string): string =>
  [
    `curl -sS ${quoteForShell(url)}`,
    `-H ${quoteForShell('Authorization: Bearer <rp_verify_key>')}`,
    `-H ${quoteForShell('Content-Type: application/json')}`,
    `--data ${quoteForShell(body)}`,
  ].join(' ');
