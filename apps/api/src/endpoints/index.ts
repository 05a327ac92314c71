/** Every endpoint, one file per area. A missing one does not compile. */
import type { Authenticator, ServiceDeps, VectorSetName, Verifier } from '@svc/service';
import type { Handlers } from '../http/index.ts';
import { agentEndpoints } from './agents.ts';
import { apiKeyEndpoints } from './api-keys.ts';
import { auditEndpoints } from './audit.ts';
import { authZenEndpoints } from './authzen.ts';
import { conformanceEndpoints } from './conformance.ts';
import type { Decide } from './decide.ts';
import { decisionEndpoints } from './decisions.ts';
import { entitlementEndpoints } from './entitlements.ts';
import { grantEndpoints } from './grants.ts';
import { meEndpoints } from './me.ts';
import { orgEndpoints } from './orgs.ts';
import { outcomeEndpoints } from './outcomes.ts';
import { principalEndpoints } from './principals.ts';
import { publicEndpoints } from './public.ts';
import { relyingPartyEndpoints } from './relying-parties.ts';
import { type Demo, sandboxEndpoints } from './sandbox.ts';
import { type SelfServe, selfServeEndpoints } from './self-serve.ts';
import { signingKeyEndpoints } from './signing-keys.ts';
import { transparencyEndpoints } from './transparency.ts';
import { usageEndpoints } from './usage.ts';
import { verifyEndpoints } from './verify.ts';

export interface EndpointDeps {
  readonly service: ServiceDeps;
  readonly verifier: Verifier;
  readonly isHealthy: () => Promise<boolean>;
  readonly authenticator: Pick<Authenticator, 'readAgain'>;
  /** Null where it is not offered. */
  readonly demo: Demo | null;
  readonly selfServe: SelfServe | null;
  /** What conformance runs are made with. */
  readonly vectors: VectorSetName;
}

export const buildEndpoints = (deps: EndpointDeps): Handlers => {
  const { service, verifier, isHealthy, authenticator, demo, selfServe, vectors } = deps;
  const decide: Decide = verifier.verify.bind(verifier);
  return {
    ...verifyEndpoints(decide),
    ...authZenEndpoints(service, decide),
    ...grantEndpoints(service),
    ...agentEndpoints(service),
    ...decisionEndpoints(service),
    ...outcomeEndpoints(service),
    ...principalEndpoints(service),
    ...relyingPartyEndpoints(service),
    ...signingKeyEndpoints(service),
    ...orgEndpoints(service),
    ...entitlementEndpoints(service),
    ...selfServeEndpoints({ service, authenticator, decide, selfServe }),
    ...meEndpoints(service),
    ...apiKeyEndpoints(service),
    ...auditEndpoints(service),
    ...usageEndpoints(service),
    ...publicEndpoints(service, isHealthy),
    ...transparencyEndpoints(service),
    ...conformanceEndpoints(service, vectors),
    ...sandboxEndpoints({ service, authenticator, decide, demo }),
  };
};
