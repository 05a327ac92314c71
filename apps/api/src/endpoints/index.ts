/** Every route's handler. A missing one does not compile. */
import type { Authenticator, ServiceDeps, VectorSetName, Verifier } from '@svc/service';
import type { Handlers } from '../http/index.ts';
import type { DecisionMetrics } from '../metrics/decision-metrics.ts';
import { disableAgent } from '../handlers/agents/disable-agent.ts';
import { registerAgent } from '../handlers/agents/register-agent.ts';
import { issueApiKey, listApiKeys, revokeApiKey } from './api-keys.ts';
import { issueObserverKey, listObserverKeys, revokeObserverKey } from '../handlers/api-keys/observer-keys.ts';
import { listAudit } from '../handlers/audit/list-audit.ts';
import { getAuthZenConfiguration } from './authzen.ts';
import { evaluateAccess, evaluateBy } from './authzen/evaluate.ts';
import { evaluateAccesses } from './authzen/evaluate-batch.ts';
import { getConformanceRun, startConformanceRun } from './conformance.ts';
import { exportDecisions } from '../handlers/decisions/export-decisions.ts';
import { getDecision } from '../handlers/decisions/get-decision.ts';
import { listDecisions } from '../handlers/decisions/list-decisions.ts';
import { reportOutcome } from '../handlers/decisions/report-outcome.ts';
import { buildDemoHandlers, type Demo } from './sandbox.ts';
import { getPrincipal } from '../handlers/directory/get-principal.ts';
import { listPrincipals } from '../handlers/directory/list-principals.ts';
import { updatePrincipal } from '../handlers/directory/update-principal.ts';
import { verifyPrincipal } from '../handlers/directory/verify-principal.ts';
import { getEntitlement, putEntitlement } from './entitlements.ts';
import { allocateGrant } from '../handlers/grants/allocate-grant.ts';
import { getGrantConsumption } from '../handlers/grants/get-grant-consumption.ts';
import { listGrants } from '../handlers/grants/list-grants.ts';
import { revokeGrant } from '../handlers/grants/revoke-grant.ts';
import { getMe } from './me.ts';
import { createPrincipal } from '../handlers/onboarding/create-principal.ts';
import { createRelyingParty } from '../handlers/onboarding/create-relying-party.ts';
import { getRelyingParty } from '../handlers/onboarding/get-relying-party.ts';
import { updateRelyingParty } from '../handlers/onboarding/update-relying-party.ts';
import { addOrgMember } from '../handlers/orgs/add-org-member.ts';
import { createOrg } from '../handlers/orgs/create-org.ts';
import { getOrg } from '../handlers/orgs/get-org.ts';
import { issueOrgApiKey, listOrgApiKeys, revokeOrgApiKey } from '../handlers/orgs/org-api-keys.ts';
import { getPrincipalDidDocument, getServiceDidDocument } from '../handlers/public/did-documents.ts';
import { getEvidence } from '../handlers/public/get-evidence.ts';
import { getHealth } from '../handlers/public/get-health.ts';
import { getMetrics } from '../handlers/public/get-metrics.ts';
import { getStatusList } from '../handlers/public/get-status-list.ts';
import { buildSelfServeHandlers, type SelfServe } from './self-serve.ts';
import { compromiseKey } from '../handlers/signing-keys/compromise-key.ts';
import { retireKey } from '../handlers/signing-keys/retire-key.ts';
import { closeCheckpoints, getCheckpoint, getLatestCheckpoint } from './transparency.ts';
import { getBundle } from '../handlers/transparency/get-bundle.ts';
import { getCheckpointLeaves } from '../handlers/transparency/get-checkpoint-leaves.ts';
import { getInclusion } from '../handlers/transparency/get-inclusion.ts';
import { getDecisionStats } from '../handlers/usage/get-decision-stats.ts';
import { getUsage } from '../handlers/usage/get-usage.ts';
import { decideBy } from './decide.ts';
import { verify } from './verify.ts';

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
