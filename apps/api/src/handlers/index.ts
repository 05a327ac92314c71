/** Every route's handler. A missing one does not compile. */
import type { ServiceDeps, Verifier } from '@svc/service';
import type { Handlers } from '../http/index.ts';
import type { DecisionMetrics } from '../metrics/decision-metrics.ts';
import { getDecision } from './decisions/get-decision.ts';
import { allocateGrant } from './grants/allocate-grant.ts';
import { listGrants } from './grants/list-grants.ts';
import { revokeGrant } from './grants/revoke-grant.ts';
import { getMe } from './identity/get-me.ts';
import { createPrincipal } from './onboarding/create-principal.ts';
import { createRelyingParty } from './onboarding/create-relying-party.ts';
import { getRelyingParty } from './onboarding/get-relying-party.ts';
import { updateRelyingParty } from './onboarding/update-relying-party.ts';
import { getPrincipalDidDocument, getServiceDidDocument } from './public/did-documents.ts';
import { getEvidence } from './public/get-evidence.ts';
import { getHealth } from './public/get-health.ts';
import { getStatusList } from './public/get-status-list.ts';
import { verify } from './verify/verify.ts';

export interface HandlerDeps {
  readonly service: ServiceDeps;
  readonly verifier: Verifier;
  readonly metrics: DecisionMetrics;
  readonly isHealthy: () => Promise<boolean>;
}

export const buildHandlers = ({ service, verifier, metrics, isHealthy }: HandlerDeps): Handlers => ({
  verify: verify(verifier, metrics),
  allocateGrant: allocateGrant(service),
  listGrants: listGrants(service),
  revokeGrant: revokeGrant(service),
  getDecision: getDecision(service),
  createPrincipal: createPrincipal(service),
  createRelyingParty: createRelyingParty(service),
  getRelyingParty: getRelyingParty(service),
  updateRelyingParty: updateRelyingParty(service),
  getMe: getMe(service),
  getHealth: getHealth(service, isHealthy),
  getServiceDidDocument: getServiceDidDocument(service),
  getPrincipalDidDocument: getPrincipalDidDocument(service),
  getEvidence: getEvidence(service),
  getStatusList: getStatusList(service),
});
