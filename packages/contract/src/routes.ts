/** Every route of the service, by operation id. A new route is one object in an area file. */
import { agentRoutes } from './areas/agents.ts';
import { apiKeyRoutes } from './areas/api-keys.ts';
import { auditRoutes } from './areas/audit.ts';
import { authZenRoutes } from './areas/authzen.ts';
import { conformanceRoutes } from './areas/conformance.ts';
import { decisionRoutes } from './areas/decisions.ts';
import { demoRoutes } from './areas/demo.ts';
import { directoryRoutes } from './areas/directory.ts';
import { domainVerificationRoutes } from './areas/domain-verification.ts';
import { entitlementRoutes } from './areas/entitlements.ts';
import { grantRoutes } from './areas/grants.ts';
import { identityRoutes } from './areas/identity.ts';
import { onboardingRoutes } from './areas/onboarding.ts';
import { orgRoutes } from './areas/orgs.ts';
import { outcomeRoutes } from './areas/outcomes.ts';
import { publicRoutes } from './areas/public.ts';
import { selfServeRoutes } from './areas/self-serve.ts';
import { signingKeyRoutes } from './areas/signing-keys.ts';
import { transparencyRoutes } from './areas/transparency.ts';
import { usageRoutes } from './areas/usage.ts';
import { verifyRoutes } from './areas/verify.ts';

export const routes = {
  ...verifyRoutes,
  ...authZenRoutes,
  ...grantRoutes,
  ...agentRoutes,
  ...decisionRoutes,
  ...outcomeRoutes,
  ...onboardingRoutes,
  ...directoryRoutes,
  ...domainVerificationRoutes,
  ...signingKeyRoutes,
  ...orgRoutes,
  ...entitlementRoutes,
  ...selfServeRoutes,
  ...identityRoutes,
  ...apiKeyRoutes,
  ...auditRoutes,
  ...usageRoutes,
  ...publicRoutes,
  ...transparencyRoutes,
  ...conformanceRoutes,
  ...demoRoutes,
};

/** Sections of the reference, in reading order. */
export const TAGS = [
  { name: 'Verify', description: 'Ask whether an Agent may do one thing, and keep the signed answer.' },
  { name: 'AuthZEN', description: 'The same question in the words of OpenID AuthZEN 1.0.' },
  { name: 'Grants', description: 'Reserve Grants before signing them, list them, revoke them.' },
  { name: 'Agents', description: 'The inventory of Agents, and the kill switch.' },
  { name: 'Decisions', description: 'Receipts of past verifications.' },
  { name: 'Onboarding', description: 'Register Principals and relying parties.' },
  { name: 'Principals', description: 'The directory: who issues Grants, and under which keys.' },
  { name: 'Signing keys', description: 'Retire a signing key, or mark it compromised.' },
  { name: 'Orgs', description: 'Customer accounts: their members and their keys.' },
  { name: 'Self-serve', description: 'Tenants that sign up by themselves, through the console.' },
  { name: 'Identity', description: 'Who a credential belongs to.' },
  { name: 'API keys', description: 'Issue, list and revoke keys. A value is shown once.' },
  { name: 'Audit', description: 'Who changed what.' },
  { name: 'Usage', description: 'How many decisions were made.' },
  { name: 'Transparency', description: 'Signed daily checkpoints, and proofs that a Receipt is in one.' },
  { name: 'Conformance', description: 'Run the published vectors against an implementation of your own.' },
  { name: 'Public', description: 'What anybody needs to check a Receipt offline. No credential.' },
  { name: 'Sandbox', description: 'Try it: real Receipts without a key. Development deployments alone.' },
] as const;
