import type { Repositories } from '@svc/service';
import type { Database } from '../database.ts';
import { agentRepository } from './agents.ts';
import { apiKeyRepository } from './api-keys.ts';
import { auditRepository } from './audit.ts';
import { evidenceRepository } from './evidence.ts';
import { grantRepository } from './grants.ts';
import { orgRepository } from './orgs.ts';
import { principalRepository } from './principals.ts';
import { receiptRepository } from './receipts.ts';
import { relyingPartyRepository } from './relying-parties.ts';
import { serviceKeyRepository } from './service-keys.ts';
import { statusListRepository } from './status-lists.ts';

/** All repositories over one pool or one transaction. */
export const repositories = (database: Database): Repositories => ({
  orgs: orgRepository(database),
  agents: agentRepository(database),
  principals: principalRepository(database),
  relyingParties: relyingPartyRepository(database),
  apiKeys: apiKeyRepository(database),
  grants: grantRepository(database),
  statusLists: statusListRepository(database),
  evidence: evidenceRepository(database),
  audit: auditRepository(database),
  receipts: receiptRepository(database),
  serviceKeys: serviceKeyRepository(database),
});
