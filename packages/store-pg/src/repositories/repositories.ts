import type { Repositories } from '@svc/service';
import type { Database } from '../database.ts';
import { agentRepository } from './agents.ts';
import { apiKeyRepository } from './api-keys.ts';
import { auditRepository } from './audit.ts';
import { checkpointRepository } from './checkpoints.ts';
import { conformanceRunRepository } from './conformance-runs.ts';
import { consumptionRepository } from './consumption.ts';
import { decisionRepository } from './decisions.ts';
import { entitlementRepository } from './entitlements.ts';
import { evidenceRepository } from './evidence.ts';
import { grantRepository } from './grants.ts';
import { orgRepository } from './orgs.ts';
import { outcomeRepository } from './outcomes.ts';
import { principalRepository } from './principals.ts';
import { receiptRepository } from './receipts.ts';
import { relyingPartyRepository } from './relying-parties.ts';
import { selfServeRepository } from './self-serve.ts';
import { serviceKeyRepository } from './service-keys.ts';
import { statusListRepository } from './status-lists.ts';
import { usageRepository } from './usage.ts';

/** All repositories over pools, with one for long reads of the ledger, or over one transaction. */
export const repositories = (database: Database, ledger = database): Repositories => ({
  orgs: orgRepository(database),
  agents: agentRepository(database),
  principals: principalRepository(database),
  relyingParties: relyingPartyRepository(database),
  apiKeys: apiKeyRepository(database),
  grants: grantRepository(database),
  statusLists: statusListRepository(database),
  entitlements: entitlementRepository(database),
  evidence: evidenceRepository(database),
  audit: auditRepository(database),
  receipts: receiptRepository(database),
  decisions: decisionRepository(ledger),
  outcomes: outcomeRepository(ledger),
  consumption: consumptionRepository(ledger),
  checkpoints: checkpointRepository(ledger),
  usage: usageRepository(ledger),
  serviceKeys: serviceKeyRepository(database),
  selfServe: selfServeRepository(database),
  conformanceRuns: conformanceRunRepository(database),
});
