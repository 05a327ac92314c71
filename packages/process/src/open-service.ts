/** Builds the dependencies of the use cases from a configuration. `close` releases everything opened here. */

import { manifestReader, type PackDaysDeps, type ReadManifest } from '@svc/cold-ledger';
import type { ServiceConfig, SigningSecrets } from '@svc/config';
import { openObjects } from '@svc/object-store';
import { checkDomainProof, createOutbound, resolveDidWeb } from '@svc/outbound';
import type { DidWeb } from '@svc/protocol';
import {
  DatabaseClock,
  type EntitlementPolicy,
  type Fence,
  FewLines,
  Holds,
  KeyRing,
  managedPrincipalDid,
  type ObjectStore,
  pooledRandom,
  SANDBOX_SLUG,
  type ServiceDeps,
  type ServiceIdentity,
  type Store,
  WebhookSecrets,
} from '@svc/service';
import { type ColdPlace, createStore, readDayRows, type StoreDeadlines } from '@svc/store-pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { ConfigurationError } from './configuration.ts';
import { openDatabase, openReplica } from './open-database.ts';
import { NO_FENCE, openFence } from './open-fence.ts';
import { workOnThread } from './packing/on-thread.ts';
import { patiently } from './patiently.ts';
import { readOnThread } from './reading/read-on-thread.ts';
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
  /** Null: the deployment has none. */
  readonly fence: Fence | null;
  /** What packs closed days; null: there is no place for them. */
  readonly packing: PackDaysDeps | null;
  /** Null: the deployment promises no standby, or nobody watches. */
  readonly standby: StandbyHealth | null;
  close(): Promise<void>;
}

export interface ServiceSources {
  readonly config: ServiceConfig;
  readonly secrets: SigningSecrets;
  readonly databaseUrl: string;
  /** Of a replica for reports, where there is one. */
  readonly databaseReadUrl?: string | null;
  readonly logger: Logger;
  /** Where its metrics go; none for a command that ends. */
  readonly registry?: Registry;
  /** Of a program that runs `runPackThread` on a thread: days are packed and proven there, else on this one. */
  readonly packThread?: URL;
  /** The file that runs `runReadThread`: cold days are read on a thread of their own, else on this one. */
  readonly readThread?: URL;
  /** The operator's own hand: the fence is neither kept nor missed. */
  readonly isOperator?: boolean;
  /** It decides: what that needs of storage is open before it is asked for. */
  readonly opensAhead?: boolean;
  /** Of storage, where they are others than a service's or an operator's. */
  readonly deadlines?: Partial<StoreDeadlines> | undefined;
}

/** A person waits for the answer and no request does, so a server that is slow is waited for. */
export const OPERATOR_DEADLINES = { connectMs: 5_000, waitMs: 5_000, readMs: 5_000 };

/** Migrates the database first. Rejects, with everything released, if it cannot be reached. */
export const openService = async (sources: ServiceSources): Promise<OpenedService> => {
  const { config, secrets, databaseUrl, databaseReadUrl = null, logger, registry } = sources;
  const count = registry === undefined ? () => {} : createEventCounter(registry);
  for (const note of secrets.notes) logger.warn({ note }, 'secrets');
  const isExternal = config.database.kind === 'external';
  const { env, domain } = config;
  const formerDids = await openDatabase(databaseUrl, { env, isExternal, domain, mayPin: true }, logger);
  if (databaseReadUrl !== null) await openReplica(databaseReadUrl, logger);
  // Of all connections that are lost at once.
  const lost = new FewLines((line, message) => logger.warn(line, message));
  const onError = (error: Error) => {
    count('storage');
    lost.write({ error: error.message }, 'storage');
  };
  const { ed25519 } = secrets.signers;
  // A restore is put right from these lines, whatever SVC_LOG_LEVEL says.
  const kept = sources.isOperator === true ? logger : logger.child({}, { level: 'info' });
  const log = countedLog(logger, count, kept);
  const onReplicaChange = createReplicaReporter(log);
  const cold = await openCold(sources, log);
  const deadlines = sources.deadlines ?? (sources.isOperator === true ? OPERATOR_DEADLINES : {});
  const store = createStore({
    databaseUrl,
    databaseReadUrl,
    cold: cold?.place ?? null,
    deadlines,
    opensAhead: sources.opensAhead === true,
    onError,
    onReplicaChange,
  });
  const closeAll = async () => {
    await store.close();
    await cold?.close();
    await secrets.signers.close();
  };
  try {
    const holds = new Holds(log);
    const did = `did:web:${config.domain}`;
    const keysFrom = { store, holds, log, did, formerDids, load: () => secrets.loadAgain() };
    // Keys that are new are dated by the time.
    const clock = await patiently(() => DatabaseClock.start({ store, holds, log }));
    const keys = await patiently(() => KeyRing.start(keysFrom, secrets));
    if (registry !== undefined) {
      createServiceMetrics(registry, holds, keys);
      createEd25519Metric(registry, ed25519);
      logger.info({ by: ed25519.name, without: ed25519.without }, 'ed25519');
      createPoolMetrics(registry, store);
      if (databaseReadUrl !== null) createReplicaMetrics(registry, store);
    }
    const identity = identityOf(config, keys);
    cold?.setManifestReader(manifestReader(identity, ed25519.crypto));
    const entitlements = entitlementPolicyOf(config);
    const service = {
      store,
      clock,
      holds,
      random: pooledRandom(),
      crypto: ed25519.crypto,
      identity,
      log,
      entitlements,
      selfTestOrgs: config.selfTestOrgs,
      maxLiveKeys: config.tenantLimits.liveKeys,
      maxMembers: config.tenantLimits.members,
      maxChangesWithoutPlan: config.tenantLimits.changesWithoutPlan,
      webhookSecrets: new WebhookSecrets(secrets.webhookKeys),
    };
    if (config.fence === null && sources.isOperator !== true) await patiently(() => refuseLineage(store));
    if (config.cold === null && sources.isOperator !== true) await patiently(() => refuseColdDays(store));
    const { fence, close: closeFence } =
      sources.isOperator === true ? NO_FENCE : await openFence(service, config);
    const packing = cold === null ? null : packingOf(service, sources, cold.place.objects);
    const close = async () => {
      await closeFence();
      keys.stop();
      clock.stop();
      await closeAll();
    };
    const isWatched = registry !== undefined && config.promisesStandby;
    const standby = isWatched ? createStandbyHealth(registry, store) : null;
    return { service: { ...service, ...outboundOf(config) }, fence, packing, standby, close };
  } catch (error) {
    await closeAll();
    throw error;
  }
};

interface OpenedCold {
  /** Reads manifests once `setManifestReader` was called. */
  readonly place: ColdPlace;
  /** The keys by which manifests are verified are read from the database, which is opened after this. */
  setManifestReader(read: ReadManifest): void;
  close(): Promise<void>;
}

/** The store of cold days, and the thread on which they are read; null where there is no such store. */
const openCold = async (
  { config: { cold }, isOperator, readThread }: ServiceSources,
  log: ServiceDeps['log'],
): Promise<OpenedCold | null> => {
  if (cold === null) return null;
  // What an operator mistypes is not made.
  const opened = await openObjects(cold.place, cold.endpoint, { mayMake: isOperator !== true });
  let readManifest: ReadManifest = () => {
    throw new Error('the keys of the service are not known yet');
  };
  const onEnd = (why: string) => log.warn('cold.thread_ended', { why });
  const reading = readThread ? readOnThread(readThread, { onEnd }) : null;
  return {
    place: {
      ...{ objects: opened.objects, readManifest: (text) => readManifest(text) },
      ...(reading && { readGroup: reading.read }),
    },
    setManifestReader: (read) => {
      readManifest = read;
    },
    close: async () => {
      await reading?.close();
      opened.close();
    },
  };
};

const packingOf = (
  service: Omit<PackDaysDeps, 'objects' | 'hotDays' | 'graceDays' | 'readDayRows'>,
  { config: { cold }, databaseUrl, packThread }: ServiceSources,
  objects: ObjectStore,
): PackDaysDeps | null => {
  if (cold === null) return null;
  const { place, endpoint, hotDays, graceDays } = cold;
  return {
    ...service,
    ...{ objects, hotDays, graceDays },
    readDayRows: (day, work, from) => readDayRows(databaseUrl, day, work, from),
    ...(packThread === undefined ? {} : { work: workOnThread(packThread, { databaseUrl, place, endpoint }) }),
  };
};

const countedLog = (logger: Logger, count: EventCounter, kept: Logger): ServiceDeps['log'] => ({
  info: (event, fields) => (event === 'revocation' ? kept : logger).info(fields, event),
  warn: (event, fields) => {
    count(event);
    logger.warn(fields, event);
  },
  error: (event, fields) => {
    count(event);
    logger.error(fields, event);
  },
});

/** Without this check a restored backup would go unnoticed although the deployment has a fence. */
const refuseLineage = async (store: Store): Promise<void> => {
  const { seq } = await store.restores.findLast();
  if (seq === 0) return;
  throw new ConfigurationError([
    'SVC_FENCE is none, and this database has a fence: set SVC_FENCE to where it lies, as every other process has it, or give the fence up with svc-admin fence give-up',
  ]);
};

/** Without this check a read of a cold day would answer 503, as if the fault were temporary. */
const refuseColdDays = async ({ coldDays }: Store): Promise<void> => {
  const count = await coldDays.countCold();
  if (count === 0) return;
  throw new ConfigurationError([
    `SVC_COLD is not set, and ${count === 1 ? 'a day' : `${count} days`} of this database can be read only from there: set it to where they lie, as every other process has it`,
  ]);
};

/** Its keys are those of the moment in which they are asked for. */
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

const entitlementPolicyOf = ({ entitlements, compOrgs, selfTestOrgs }: ServiceConfig): EntitlementPolicy => ({
  isEnforced: entitlements === 'enforce',
  compOrgs: new Set([...compOrgs, ...selfTestOrgs]),
});

/** All requests to external hosts go through one guard with its limits. */
const outboundOf = ({
  env,
  outboundMap,
}: ServiceConfig): Pick<ServiceDeps, 'didResolver' | 'domainProver' | 'mappedHosts' | 'findUrlRefusal'> => {
  const outbound = createOutbound({ mode: env, outboundMap });
  return {
    didResolver: { resolve: (did, tenant) => resolveDidWeb(outbound.as(tenant), did) },
    domainProver: { check: (claim, tenant) => checkDomainProof(outbound.as(tenant), claim) },
    mappedHosts: new Set(Object.keys(outboundMap?.hosts ?? {})),
    findUrlRefusal: outbound.findRefusal,
  };
};
