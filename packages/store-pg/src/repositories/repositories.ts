import type { Repositories } from '@svc/service';
import type { ColdReader } from '../cold/cold-reader.ts';
import type { Database } from '../database.ts';
import { agentRepository } from './agents.ts';
import { apiKeyRepository } from './api-keys.ts';
import { approvalRepository } from './approvals.ts';
import { auditRepository } from './audit.ts';
import { checkpointRepository } from './checkpoints.ts';
import { claimRepository } from './claims.ts';
import { coldDayRepository } from './cold-days.ts';
import { conformanceRunRepository } from './conformance-runs.ts';
import { consumptionRepository } from './consumption.ts';
import { decisionRepository } from './decisions.ts';
import { entitlementRepository } from './entitlements.ts';
import { eventDeliveryRepository } from './event-deliveries.ts';
import { eventLogRepository } from './event-log.ts';
import { eventSubscriptionRepository } from './event-subscriptions.ts';
import { evidenceRepository } from './evidence.ts';
import { grantRepository } from './grants.ts';
import { orgRepository } from './orgs.ts';
import { outcomeRepository } from './outcomes.ts';
import { pauseRepository } from './pauses.ts';
import { principalRepository } from './principals.ts';
import { receiptRepository } from './receipts.ts';
import { relyingPartyRepository } from './relying-parties.ts';
import { restoreRepository } from './restores.ts';
import { revocationNoticeRepository } from './revocation-notices.ts';
import { selfServeRepository } from './self-serve.ts';
import { serviceKeyRepository } from './service-keys.ts';
import { statusListRepository } from './status-lists.ts';
import { streamRepository } from './streams.ts';
import { usageRepository } from './usage.ts';
import { withheldGrantRepository } from './withheld-grants.ts';

type Make<R> = (database: Database, ledger: Database, cold: ColdReader) => R;

const MAKERS: { readonly [Name in keyof Repositories]: Make<Repositories[Name]> } = {
  orgs: orgRepository,
  agents: agentRepository,
  principals: principalRepository,
  relyingParties: relyingPartyRepository,
  claims: claimRepository,
  apiKeys: apiKeyRepository,
  grants: grantRepository,
  statusLists: statusListRepository,
  pauses: pauseRepository,
  approvals: approvalRepository,
  entitlements: entitlementRepository,
  evidence: evidenceRepository,
  audit: (_, ledger) => auditRepository(ledger),
  receipts: (database, _, cold) => receiptRepository(database, cold),
  decisions: (_, ledger, cold) => decisionRepository(ledger, cold),
  outcomes: (_, ledger) => outcomeRepository(ledger),
  consumption: (_, ledger) => consumptionRepository(ledger),
  checkpoints: (_, ledger, cold) => checkpointRepository(ledger, cold),
  coldDays: coldDayRepository,
  usage: (_, ledger, cold) => usageRepository(ledger, cold),
  serviceKeys: serviceKeyRepository,
  selfServe: selfServeRepository,
  conformanceRuns: conformanceRunRepository,
  restores: restoreRepository,
  withheldGrants: withheldGrantRepository,
  eventSubscriptions: eventSubscriptionRepository,
  eventLog: eventLogRepository,
  eventDeliveries: eventDeliveryRepository,
  revocationNotices: revocationNoticeRepository,
  streams: streamRepository,
};

const DATABASE = Symbol('database');
const LEDGER = Symbol('ledger');
const COLD = Symbol('cold');

interface Lazy {
  readonly [DATABASE]: Database;
  readonly [LEDGER]: Database;
  readonly [COLD]: ColdReader;
}

const makeWhenAsked = (name: string, make: Make<unknown>): PropertyDescriptor => ({
  enumerable: true,
  configurable: true,
  get(this: Lazy) {
    const value = make(this[DATABASE], this[LEDGER], this[COLD]);
    Object.defineProperty(this, name, { value, enumerable: true });
    return value;
  },
});

const DESCRIPTORS: PropertyDescriptorMap = Object.fromEntries(
  Object.entries<Make<unknown>>(MAKERS).map(([name, make]) => [name, makeWhenAsked(name, make)]),
);

/**
 * All repositories, over pools (with a separate one for long reads of the ledger and for lists) or over one
 * transaction. Each is created at its first use: a call needs two or three.
 */
export const repositories = (database: Database, cold: ColdReader, ledger = database): Repositories => {
  const lazy: Lazy = { [DATABASE]: database, [LEDGER]: ledger, [COLD]: cold };
  return Object.defineProperties(lazy, DESCRIPTORS) as Lazy & Repositories;
};
