/** Every route of the service, by area and by operation id. A new route is one object in an area file. */
import { agentRoutes } from './areas/agents.ts';
import { apiKeyRoutes } from './areas/api-keys.ts';
import { approvalRoutes } from './areas/approvals.ts';
import { auditRoutes } from './areas/audit.ts';
import { authZenRoutes } from './areas/authzen.ts';
import { claimRoutes } from './areas/claims.ts';
import { conformanceRoutes } from './areas/conformance.ts';
import { decisionRoutes } from './areas/decisions.ts';
import { entitlementRoutes } from './areas/entitlements.ts';
import { eventRoutes } from './areas/events.ts';
import { grantRoutes } from './areas/grants.ts';
import { meRoutes } from './areas/me.ts';
import { orgRoutes } from './areas/orgs.ts';
import { outcomeRoutes } from './areas/outcomes.ts';
import { pauseRoutes } from './areas/pauses.ts';
import { principalRoutes } from './areas/principals.ts';
import { publicRoutes } from './areas/public.ts';
import { relyingPartyRoutes } from './areas/relying-parties.ts';
import { sandboxRoutes } from './areas/sandbox.ts';
import { selfServeRoutes } from './areas/self-serve.ts';
import { signingKeyRoutes } from './areas/signing-keys.ts';
import { ssfRoutes } from './areas/ssf.ts';
import { transparencyRoutes } from './areas/transparency.ts';
import { usageRoutes } from './areas/usage.ts';
import { verifyRoutes } from './areas/verify.ts';

/**
 * The name of an area is the same everywhere: a file of `areas/`, a folder of use cases, a file of endpoints, their
 * tests.
 */
export const areas = {
  verify: verifyRoutes,
  authzen: authZenRoutes,
  approvals: approvalRoutes,
  grants: grantRoutes,
  agents: agentRoutes,
  pauses: pauseRoutes,
  decisions: decisionRoutes,
  outcomes: outcomeRoutes,
  principals: principalRoutes,
  'relying-parties': relyingPartyRoutes,
  claims: claimRoutes,
  'signing-keys': signingKeyRoutes,
  orgs: orgRoutes,
  entitlements: entitlementRoutes,
  'self-serve': selfServeRoutes,
  me: meRoutes,
  'api-keys': apiKeyRoutes,
  audit: auditRoutes,
  usage: usageRoutes,
  public: publicRoutes,
  transparency: transparencyRoutes,
  events: eventRoutes,
  ssf: ssfRoutes,
  conformance: conformanceRoutes,
  sandbox: sandboxRoutes,
} as const;

const { createPrincipal, ...directoryRoutes } = principalRoutes;

/** In the order of `docs/openapi.json`: both registrations come before the directory of the registered Principals. */
export const routes = {
  ...areas.verify,
  ...areas.authzen,
  ...areas.approvals,
  ...areas.grants,
  ...areas.agents,
  ...areas.pauses,
  ...areas.decisions,
  ...areas.outcomes,
  createPrincipal,
  ...areas['relying-parties'],
  ...areas.claims,
  ...directoryRoutes,
  ...areas['signing-keys'],
  ...areas.orgs,
  ...areas.entitlements,
  ...areas['self-serve'],
  ...areas.me,
  ...areas['api-keys'],
  ...areas.audit,
  ...areas.usage,
  ...areas.public,
  ...areas.transparency,
  ...areas.events,
  ...areas.ssf,
  ...areas.conformance,
  ...areas.sandbox,
};

/** Sections of the reference, in reading order. */
export const TAGS = [
  { name: 'Verify', description: 'Ask whether an Agent may do one thing, and keep the signed answer.' },
  { name: 'AuthZEN', description: 'The same question in the words of OpenID AuthZEN 1.0.' },
  { name: 'Approvals', description: 'Ask a Principal about one Action that was denied, and answer.' },
  { name: 'Grants', description: 'Reserve Grants before signing them, list them, revoke them.' },
  { name: 'Agents', description: 'The inventory of Agents, and the kill switch.' },
  {
    name: 'Pauses',
    description: 'Deny for a while what a Grant, an Agent, a Principal, a relying party or an org may do.',
  },
  { name: 'Decisions', description: 'Receipts of past verifications.' },
  { name: 'Onboarding', description: 'Register Principals and relying parties.' },
  { name: 'Principals', description: 'The directory: who issues Grants, and under which keys.' },
  { name: 'Signing keys', description: 'Retire a signing key, or mark it compromised.' },
  { name: 'Orgs', description: 'Customer accounts: their members and their keys.' },
  { name: 'Self-serve', description: 'Tenants that sign up by themselves, through the console.' },
  { name: 'Identity', description: 'The subject of a credential.' },
  { name: 'API keys', description: 'Issue, list and revoke keys. A value is shown once.' },
  { name: 'Audit', description: 'Who changed what.' },
  { name: 'Usage', description: 'How many decisions were made.' },
  { name: 'Transparency', description: 'Signed daily checkpoints, and proofs that a Receipt is in one.' },
  { name: 'Events', description: 'Webhooks: subscriptions of endpoints to events, and their deliveries.' },
  { name: 'Shared Signals', description: 'The same events as SETs, for receivers of OpenID SSF.' },
  { name: 'Conformance', description: 'Run the published vectors against an implementation of your own.' },
  { name: 'Public', description: 'What anybody needs to check a Receipt offline. No credential.' },
  {
    name: 'Sandbox',
    description: 'Try the service: real Receipts without a key. Only on development deployments.',
  },
] as const;
