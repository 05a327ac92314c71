/** All endpoints, one file per area. A missing endpoint does not compile. */
import {
  Attestor,
  type Authenticator,
  createSigningTurns,
  DomainChecks,
  EndedKeys,
  Revoker,
  ServedLists,
  type ServiceDeps,
  SetSigner,
  type VectorSetName,
  type Verifier,
  type Waits,
} from '@svc/service';
import type { Handlers } from '../http/index.ts';
import type { ApprovalMetrics } from '../metrics/approval-metrics.ts';
import { agentEndpoints } from './agents.ts';
import { apiKeyEndpoints } from './api-keys.ts';
import { approvalEndpoints } from './approvals.ts';
import { asCaller } from './as-caller.ts';
import { auditEndpoints } from './audit.ts';
import { authZenEndpoints } from './authzen.ts';
import { claimEndpoints } from './claims.ts';
import { conformanceEndpoints } from './conformance.ts';
import type { Decide } from './decide.ts';
import { decisionEndpoints } from './decisions.ts';
import { entitlementEndpoints } from './entitlements.ts';
import { eventEndpoints } from './events.ts';
import { grantEndpoints } from './grants.ts';
import { meEndpoints } from './me.ts';
import { orgEndpoints } from './orgs.ts';
import { outcomeEndpoints } from './outcomes.ts';
import { pauseEndpoints } from './pauses.ts';
import { principalEndpoints } from './principals.ts';
import { createKnownPublic, publicEndpoints } from './public.ts';
import { relyingPartyEndpoints } from './relying-parties.ts';
import { type Demo, sandboxEndpoints } from './sandbox.ts';
import { type SelfServe, selfServeEndpoints } from './self-serve.ts';
import { signingKeyEndpoints } from './signing-keys.ts';
import { ssfEndpoints } from './ssf.ts';
import { ACTIVITY, EXPORTS, LEAVES, StreamTurns, Turns } from './stream-turns.ts';
import { transparencyEndpoints } from './transparency.ts';
import { metricsKept, usageEndpoints } from './usage.ts';
import { verifyEndpoints } from './verify.ts';

export interface EndpointDeps {
  readonly service: ServiceDeps;
  readonly verifier: Verifier;
  readonly isHealthy: () => Promise<boolean>;
  readonly authenticator: Pick<Authenticator, 'forget' | 'readAgain'>;
  readonly approvalWaits: Waits;
  readonly approvalMetrics: ApprovalMetrics;
  readonly streamWaits: Waits;
  /** Null: the deployment does not offer it. */
  readonly demo: Demo | null;
  readonly selfServe: SelfServe | null;
  /** The vectors that conformance runs use. */
  readonly vectors: VectorSetName;
}

export const buildEndpoints = (deps: EndpointDeps): Handlers => {
  const {
    service,
    verifier,
    isHealthy,
    authenticator,
    approvalWaits,
    approvalMetrics,
    streamWaits,
    demo,
    selfServe,
    vectors,
  } = deps;
  const decide: Decide = verifier.verify.bind(verifier);
  const revoker = new Revoker();
  const domainChecks = new DomainChecks();
  const endedKeys = new EndedKeys();
  const servedLists = new ServedLists();
  const known = createKnownPublic();
  const metricsOf = metricsKept(service);
  const signingTurns = createSigningTurns();
  const polling = { waits: streamWaits, signer: new SetSigner(service, signingTurns) };
  const approving = { waits: approvalWaits, metrics: approvalMetrics, verifier };
  const deciding = { exportTurns: new StreamTurns(EXPORTS), activityTurns: new Turns(ACTIVITY) };
  const transparency = {
    leafTurns: new StreamTurns(LEAVES),
    attestor: new Attestor(service, signingTurns),
  };
  const forCaller = <H extends Partial<Handlers>>(build: (deps: ServiceDeps) => H) =>
    asCaller(service, build);
  return {
    ...verifyEndpoints(decide, verifier.dryRun.bind(verifier), service.identity.baseUrl),
    ...authZenEndpoints(service, decide),
    ...forCaller((own) => approvalEndpoints(own, approving)),
    ...forCaller((own) => grantEndpoints(own, revoker)),
    ...forCaller(agentEndpoints),
    ...forCaller(pauseEndpoints),
    ...forCaller((own) => decisionEndpoints(own, deciding)),
    ...forCaller(outcomeEndpoints),
    ...forCaller((own) => principalEndpoints(own, domainChecks, endedKeys)),
    ...forCaller((own) => relyingPartyEndpoints(own, domainChecks, authenticator)),
    ...forCaller(claimEndpoints),
    ...forCaller(signingKeyEndpoints),
    ...forCaller(orgEndpoints),
    ...forCaller(entitlementEndpoints),
    ...selfServeEndpoints({ service, authenticator, decide, selfServe }),
    ...forCaller((own) => meEndpoints(own, endedKeys)),
    ...forCaller(apiKeyEndpoints),
    ...forCaller(auditEndpoints),
    ...forCaller((own) => usageEndpoints(own, metricsOf)),
    ...forCaller((own) => publicEndpoints(own, { isHealthy, servedLists, known })),
    ...forCaller((own) => transparencyEndpoints(own, transparency)),
    ...forCaller(eventEndpoints),
    ...forCaller((own) => ssfEndpoints(own, polling)),
    ...forCaller((own) => conformanceEndpoints(own, vectors)),
    ...sandboxEndpoints({ service, authenticator, decide, verifier, revoker, demo }),
  };
};
