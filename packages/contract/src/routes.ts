/** Every route of the service, by operation id. A new route is one object in an area file. */
import { decisionRoutes } from './areas/decisions.ts';
import { grantRoutes } from './areas/grants.ts';
import { identityRoutes } from './areas/identity.ts';
import { onboardingRoutes } from './areas/onboarding.ts';
import { publicRoutes } from './areas/public.ts';
import { verifyRoutes } from './areas/verify.ts';

export const routes = {
  ...verifyRoutes,
  ...grantRoutes,
  ...decisionRoutes,
  ...onboardingRoutes,
  ...identityRoutes,
  ...publicRoutes,
};

/** Sections of the reference, in reading order. */
export const TAGS = [
  { name: 'Verify', description: 'Ask whether an Agent may do one thing, and keep the signed answer.' },
  { name: 'Grants', description: 'Reserve Grants before signing them, list them, revoke them.' },
  { name: 'Decisions', description: 'Receipts of past verifications.' },
  { name: 'Onboarding', description: 'Register Principals and relying parties.' },
  { name: 'Identity', description: 'Who a credential belongs to.' },
  { name: 'Public', description: 'What anybody needs to check a Receipt offline. No credential.' },
] as const;
