/** Builds the dependencies of the use cases from a configuration. `close` releases everything that was opened here. */

import { manifestReader, type PackDaysDeps } from '@svc/cold-ledger';
import type { ServiceConfig, SigningSecrets } from '@svc/config';
import { checkDomainProof, createOutbound, resolveDidWeb } from '@svc/outbound';
import type { DidWeb } from '@svc/protocol';
import {
  DatabaseClock,
  type Fence,
  FewLines,
  Holds,
  KeyRing,
  managedPrincipalDid,
  pooledRandom,
  SANDBOX_SLUG,
  type ServiceDeps,
  type ServiceIdentity,
  type ServiceSigner,
  type Store,
  WebhookSecrets,
} from '@svc/service';
import { type ColdPlace, createStore, type StoreDeadlines } from '@svc/store-pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { damageNoter } from './note-damage.ts';
import { type ColdSources, openCold, packingOf } from './open-cold.ts';
import { openDatabase, openReplica } from './open-database.ts';
import { NO_FENCE, openFence } from './open-fence.ts';
import { patiently } from './patiently.ts';
import { refuseWithoutCold, refuseWithoutFence } from './refuse-without-places.ts';
import { createReplicaMetrics, createReplicaReporter } from './replica-health.ts';
import {
  createEd25519Metric,
  createEventCounter,
  createPoolMetrics,
  createServiceMetrics,
  type EventCounter,
} from './service-metrics.ts';
import { createStandbyHealth, type StandbyHealth } from './standby-health.ts';

export interface OpenedService {
  readonly service: ServiceDeps;
  /** Null: the deployment has no fence. */
  readonly fence: Fence | null;
  /** Dependencies that pack closed days; null: there is no store for them. */
  readonly packing: PackDaysDeps | null;
  /** Null: the deployment promises no standby, or this process does not monitor it. */
  readonly standby: StandbyHealth | null;
  close(): Promise<void>;
}

export interface ServiceSources extends ColdSources {
  readonly config: ServiceConfig;
  readonly secrets: SigningSecrets;
  /** URL of a replica for reports, if there is one. */
  readonly databaseReadUrl?: string | null;
  readonly logger: Logger;
  /** The registry for its metrics; not given for a command, which ends. */
  readonly registry?: Registry;
  /** True: the process decides, so it opens the storage connections for decisions in advance. */
  readonly opensAhead?: boolean;
  /** The store's deadlines, where they differ from the defaults of a service or an operator. */
  readonly deadlines?: Partial<StoreDeadlines> | undefined;
}

/** Longer than for a request, since a person waits for the answer; so a slow server is waited for. */
export const OPERATOR_DEADLINES = { connectMs: 5_000, waitMs: 5_000, readMs: 5_000 };

/** Migrates the database first. Rejects, with everything released, if the database cannot be reached. */
export const openService = async (sources: ServiceSources): Promise<OpenedService> => {
  const { config, secrets, logger, registry } = sources;
  const count = registry === undefined ? () => {} : createEventCounter(registry);
  for (const note of secrets.notes) logger.warn({ note }, 'secrets');
  const formerDids = await openDatabases(sources);
  // A restore is repaired from these lines, so they are logged whatever SVC_LOG_LEVEL says.
  const kept = sources.isOperator === true ? logger : logger.child({}, { level: 'info' });
  const log = countedLog(logger, count, kept);
  const cold = await openCold(sources, log);
  const store = openStore(sources, { log, count, cold: cold?.place ?? null });
  let stopReading = () => {};
  const closeAll = async () => {
    stopReading();
    await store.close();
    await cold?.close();
    await secrets.signers.close();
  };
  try {
    const { holds, clock, keys } = await openClockAndKeys(sources, { store, log, formerDids });
    stopReading = () => {
      keys.stop();
      clock.stop();
    };
    if (registry !== undefined) registerMetrics(registry, sources, { store, holds, keys });
    const { crypto } = secrets.signers.ed25519;
    const identity = identityOf(config, keys);
    cold?.setManifestReader(manifestReader(identity, crypto));
    cold?.setDamageNoter(damageNoter({ objects: cold.place.objects, store, log }));
    const service = {
      ...{ store, clock, holds, crypto, identity, log },
      random: pooledRandom(),
      ...policyOf(config),
      webhookSecrets: new WebhookSecrets(secrets.webhookKeys),
    };
    if (sources.isOperator !== true) await refuseWithoutPlaces(config, store);
    const { fence, close: closeFence } =
      sources.isOperator === true ? NO_FENCE : await openFence(service, config);
    const packing = cold === null ? null : packingOf(service, sources, cold.place.objects);
    const close = async () => {
      await closeFence();
      await closeAll();
    };
    const isWatched = registry !== undefined && config.promisesStandby;
    const standby = isWatched ? createStandbyHealth(registry, store) : null;
    return { service: { ...service, ...outboundOf(config, crypto) }, fence, packing, standby, close };
  } catch (error) {
    await closeAll();
    throw error;
  }
};

/**
 * Migrates the primary, and waits for the replica if there is one. Resolves with the DIDs that the service had before.
 */
const openDatabases = async ({ config, databaseUrl, databaseReadUrl = null, logger }: ServiceSources) => {
  const { env, domain, database } = config;
  const isExternal = database.kind === 'external';
  const formerDids = await openDatabase(databaseUrl, { env, isExternal, domain, mayPin: true }, logger);
  if (databaseReadUrl !== null) await openReplica(databaseReadUrl, logger);
  return formerDids;
};

const openStore = (
  { databaseUrl, databaseReadUrl = null, deadlines, isOperator, opensAhead, logger }: ServiceSources,
  { log, count, cold }: { log: ServiceDeps['log']; count: EventCounter; cold: ColdPlace | null },
): Store => {
  // All connections can be lost at once.
  const lost = new FewLines((line, message) => logger.warn(line, message));
  return createStore({
    ...{ databaseUrl, databaseReadUrl, cold },
    deadlines: deadlines ?? (isOperator === true ? OPERATOR_DEADLINES : {}),
    opensAhead: opensAhead === true,
    onError: (error) => {
      count('storage');
      lost.write({ error: error.message }, 'storage');
    },
    onReplicaChange: createReplicaReporter(log),
  });
};

const openClockAndKeys = async (
  { config, secrets }: ServiceSources,
  { store, log, formerDids }: { store: Store; log: ServiceDeps['log']; formerDids: readonly DidWeb[] },
) => {
  const holds = new Holds(log);
  const did = `did:web:${config.domain}`;
  const keysFrom = {
    ...{ store, holds, log, did, formerDids },
    load: () => secrets.loadAgain(),
    closeAllBut: (used: readonly ServiceSigner[]) => void secrets.signers.closeAllBut(used),
  };
  // The clock comes first, because new keys are dated by it.
  const clock = await patiently(() => DatabaseClock.start({ store, holds, log }));
  try {
    const keys = await patiently(() => KeyRing.start(keysFrom, secrets));
    return { holds, clock, keys };
  } catch (error) {
    clock.stop();
    throw error;
  }
};

const registerMetrics = (
  registry: Registry,
  { secrets, logger, databaseReadUrl = null }: ServiceSources,
  { store, holds, keys }: { store: Store; holds: Holds; keys: KeyRing },
): void => {
  const { ed25519 } = secrets.signers;
  createServiceMetrics(registry, holds, keys);
  createEd25519Metric(registry, ed25519);
  logger.info({ by: ed25519.name, without: ed25519.without }, 'ed25519');
  createPoolMetrics(registry, store);
  if (databaseReadUrl !== null) createReplicaMetrics(registry, store);
};

const countedLog = (logger: Logger, count: EventCounter, kept: Logger): ServiceDeps['log'] => ({
  info: (event, fields) => {
    if (event !== 'revocation') return logger.info(fields, event);
    kept.info(fields, event);
    // The line is written before the change that it describes is committed: a process that is killed loses its gathered
    // lines.
    return kept.flush();
  },
  warn: (event, fields) => {
    count(event);
    logger.warn(fields, event);
  },
  error: (event, fields) => {
    count(event);
    logger.error(fields, event);
  },
});

const refuseWithoutPlaces = async ({ fence, cold }: ServiceConfig, store: Store): Promise<void> => {
  if (fence === null) await patiently(() => refuseWithoutFence(store));
  if (cold === null) await patiently(() => refuseWithoutCold(store));
};

/** Its keys are read from the key ring at each access, so that they are the present ones. */
const identityOf = (config: ServiceConfig, keys: KeyRing): ServiceIdentity => ({
  did: `did:web:${config.domain}` as DidWeb,
  domain: config.domain,
  sandboxPrincipal: managedPrincipalDid(config, SANDBOX_SLUG),
  env: config.env,
  baseUrl: config.baseUrl,
  statusBaseUrl: config.statusBaseUrl,
  get receiptKeys() {
    return keys.receiptKeys;
  },
  get statusKeys() {
    return keys.statusKeys;
  },
  get formers() {
    return keys.formers;
  },
});

/** The entitlements, and the limits of tenants. */
const policyOf = ({ entitlements, compOrgs, selfTestOrgs, tenantLimits }: ServiceConfig) => ({
  entitlements: {
    isEnforced: entitlements === 'enforce',
    compOrgs: new Set([...compOrgs, ...selfTestOrgs]),
  },
  selfTestOrgs,
  maxLiveKeys: tenantLimits.liveKeys,
  maxMembers: tenantLimits.members,
  maxChangesWithoutPlan: tenantLimits.changesWithoutPlan,
});

/** All requests to external hosts go through one guard with its limits. */
const outboundOf = (
  { env, outboundMap }: ServiceConfig,
  crypto: ServiceDeps['crypto'],
): Pick<ServiceDeps, 'didResolver' | 'domainProver' | 'mappedHosts' | 'findUrlRefusal'> => {
  const outbound = createOutbound({ mode: env, outboundMap });
  return {
    didResolver: { resolve: (did, tenant) => resolveDidWeb(outbound.as(tenant), crypto, did) },
    domainProver: { check: (claim, tenant) => checkDomainProof(outbound.as(tenant), claim) },
    mappedHosts: new Set(Object.keys(outboundMap?.hosts ?? {})),
    findUrlRefusal: outbound.findRefusal,
  };
};
