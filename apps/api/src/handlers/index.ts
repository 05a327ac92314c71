/** Every route's handler. A missing one does not compile. */
import type { Authenticator, ServiceDeps, VectorSetName, Verifier } from '@svc/service';
import type { Handlers } from '../http/index.ts';
import type { DecisionMetrics } from '../metrics/decision-metrics.ts';
import { disableAgent } from './agents/disable-agent.ts';
import { registerAgent } from './agents/register-agent.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from './api-keys/api-keys.ts';
import { issueObserverKey, listObserverKeys, revokeObserverKey } from './api-keys/observer-keys.ts';
import { listAudit } from './audit/list-audit.ts';
import { getAuthZenConfiguration } from './authzen/configuration.ts';
import { evaluateAccess, evaluateBy } from './authzen/evaluate.ts';
import { evaluateAccesses } from './authzen/evaluate-batch.ts';
import { getConformanceRun, startConformanceRun } from './conformance/conformance-runs.ts';
import { exportDecisions } from './decisions/export-decisions.ts';
import { getDecision } from './decisions/get-decision.ts';
import { listDecisions } from './decisions/list-decisions.ts';
import { reportOutcome } from './decisions/report-outcome.ts';
import { buildDemoHandlers, type Demo } from './demo/demo.ts';
import { getPrincipal } from './directory/get-principal.ts';
import { listPrincipals } from './directory/list-principals.ts';
import { updatePrincipal } from './directory/update-principal.ts';
import { verifyPrincipal } from './directory/verify-principal.ts';
import { getEntitlement, putEntitlement } from './entitlements/entitlement.ts';
import { allocateGrant } from './grants/allocate-grant.ts';
import { getGrantConsumption } from './grants/get-grant-consumption.ts';
import { listGrants } from './grants/list-grants.ts';
import { revokeGrant } from './grants/revoke-grant.ts';
import { getMe } from './identity/get-me.ts';
import { createPrincipal } from './onboarding/create-principal.ts';
import { createRelyingParty } from './onboarding/create-relying-party.ts';
import { getRelyingParty } from './onboarding/get-relying-party.ts';
import { updateRelyingParty } from './onboarding/update-relying-party.ts';
import { addOrgMember } from './orgs/add-org-member.ts';
import { createOrg } from './orgs/create-org.ts';
import { getOrg } from './orgs/get-org.ts';
import { issueOrgApiKey, listOrgApiKeys, revokeOrgApiKey } from './orgs/org-api-keys.ts';
import { getPrincipalDidDocument, getServiceDidDocument } from './public/did-documents.ts';
import { getEvidence } from './public/get-evidence.ts';
import { getHealth } from './public/get-health.ts';
import { getMetrics } from './public/get-metrics.ts';
import { getStatusList } from './public/get-status-list.ts';
import { buildSelfServeHandlers, type SelfServe } from './self-serve/self-serve.ts';
import { compromiseKey } from './signing-keys/compromise-key.ts';
import { retireKey } from './signing-keys/retire-key.ts';
import { closeCheckpoints, getCheckpoint, getLatestCheckpoint } from './transparency/checkpoints.ts';
import { getBundle } from './transparency/get-bundle.ts';
import { getCheckpointLeaves } from './transparency/get-checkpoint-leaves.ts';
import { getInclusion } from './transparency/get-inclusion.ts';
import { getDecisionStats } from './usage/get-decision-stats.ts';
import { getUsage } from './usage/get-usage.ts';
import { decideBy } from './verify/decide.ts';
import { verify } from './verify/verify.ts';

export interface HandlerDeps {
  readonly service: ServiceDeps;
  readonly verifier: Verifier;
  readonly metrics: DecisionMetrics;
  readonly isHealthy: () => Promise<boolean>;
  readonly authenticator: Pick<Authenticator, 'readAgain'>;
  /** Null where it is not offered. */
  readonly demo: Demo | null;
  readonly selfServe: SelfServe | null;
  /** What conformance runs are made with. */
  readonly vectors: VectorSetName;
}

export const buildHandlers = (deps: HandlerDeps): Handlers => {
  const { service, verifier, metrics, isHealthy, authenticator, demo, selfServe, vectors } = deps;
  const decide = decideBy(verifier, metrics);
  const evaluate = evaluateBy(decide, service.identity);
  return {
    verify: verify(decide),
    evaluateAccess: evaluateAccess(evaluate),
    evaluateAccesses: evaluateAccesses(evaluate, service.log),
    getAuthZenConfiguration: getAuthZenConfiguration(service.identity),
    ...buildDemoHandlers({ service, authenticator, decide, demo }),
    ...buildSelfServeHandlers({ service, authenticator, decide, selfServe }),
    allocateGrant: allocateGrant(service),
    listGrants: listGrants(service),
    getGrantConsumption: getGrantConsumption(service),
    revokeGrant: revokeGrant(service),
    registerAgent: registerAgent(service),
    disableAgent: disableAgent(service),
    listPrincipals: listPrincipals(service),
    getPrincipal: getPrincipal(service),
    updatePrincipal: updatePrincipal(service),
    retireKey: retireKey(service),
    compromiseKey: compromiseKey(service),
    listDecisions: listDecisions(service),
    exportDecisions: exportDecisions(service),
    getDecision: getDecision(service),
    reportOutcome: reportOutcome(service),
    createPrincipal: createPrincipal(service),
    verifyPrincipal: verifyPrincipal(service),
    createRelyingParty: createRelyingParty(service),
    getRelyingParty: getRelyingParty(service),
    updateRelyingParty: updateRelyingParty(service),
    createOrg: createOrg(service),
    getOrg: getOrg(service),
    addOrgMember: addOrgMember(service),
    getEntitlement: getEntitlement(service),
    putEntitlement: putEntitlement(service),
    listOrgApiKeys: listOrgApiKeys(service),
    issueOrgApiKey: issueOrgApiKey(service),
    revokeOrgApiKey: revokeOrgApiKey(service),
    getMe: getMe(service),
    listApiKeys: listApiKeys(service),
    issueApiKey: issueApiKey(service),
    revokeApiKey: revokeApiKey(service),
    listObserverKeys: listObserverKeys(service),
    issueObserverKey: issueObserverKey(service),
    revokeObserverKey: revokeObserverKey(service),
    listAudit: listAudit(service),
    getUsage: getUsage(service),
    getDecisionStats: getDecisionStats(service),
    getMetrics: getMetrics(service),
    getHealth: getHealth(service, isHealthy),
    getServiceDidDocument: getServiceDidDocument(service),
    getPrincipalDidDocument: getPrincipalDidDocument(service),
    getEvidence: getEvidence(service),
    getStatusList: getStatusList(service),
    getLatestCheckpoint: getLatestCheckpoint(service),
    getCheckpoint: getCheckpoint(service),
    getCheckpointLeaves: getCheckpointLeaves(service),
    getInclusion: getInclusion(service),
    getBundle: getBundle(service),
    closeCheckpoints: closeCheckpoints(service),
    startConformanceRun: startConformanceRun(service, vectors),
    getConformanceRun: getConformanceRun(service),
  };
};
