/** Composes the process from its configuration: storage, use cases, HTTP. Whatever it opens, it can close. */
import type { AddressInfo } from 'node:net';
import type { Config, Secrets } from '@svc/config';
import type { Feature } from '@svc/contract';
import {
  type AdminDeps,
  type AdminService,
  createAdminService,
  createColdHealth,
  createColdStoreHealth,
  createContentHealth,
  createFenceMetrics,
  createServiceReadiness,
  type OpenedService,
  openService,
  patiently,
  type Readiness,
  readVectorSetName,
  type ServiceSources,
} from '@svc/process';
import {
  Authenticator,
  openSandbox,
  type ServiceDeps,
  ServiceError,
  StoreError,
  Verifier,
  Waits,
} from '@svc/service';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { buildEndpoints, type EndpointDeps } from './endpoints/index.ts';
import { limitNewcomers } from './endpoints/limit-newcomers.ts';
import { refuseWhileUnsure } from './endpoints/refuse-while-unsure.ts';
import {
  ApiError,
  createHttpMetrics,
  createHttpService,
  type Handlers,
  HTTP_LIMITS,
  type HttpLimits,
  loadErrorPage,
  loadPages,
} from './http/index.ts';
import { createApprovalMetrics } from './metrics/approval-metrics.ts';
import { createDecisionMetrics } from './metrics/decision-metrics.ts';
import { publishEvidence } from './publish-evidence.ts';

/** The build copies these files beside the program; run from source, the program reads the originals. */
const IS_SOURCE = import.meta.url.endsWith('.ts');
export const VECTORS = new URL(IS_SOURCE ? '../../../vectors/' : './vectors/', import.meta.url);
const PAGES = new URL(IS_SOURCE ? '../../pages/dist/' : './pages/', import.meta.url);

export interface Api {
  readonly address: AddressInfo;
  readonly adminAddress: AddressInfo;
  readonly service: ServiceDeps;
  readonly packing: OpenedService['packing'];
  readonly registry: Registry;
  /**
   * Stops accepting work, finishes what is under way, and closes storage. Work has `drainMs` (default 10 s) to finish;
   * once `hurry` is aborted, it has 10 s from then on.
   */
  close(drainMs?: number, hurry?: AbortSignal): Promise<void>;
}

export interface ApiDeps {
  readonly config: Config;
  readonly secrets: Secrets;
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly packThread?: URL;
  /** The file of the thread that reads cold days. Default: they are read on this thread. */
  readonly readThread?: URL;
  /** Default: an admin service on its own port. */
  readonly createAdmin?: (deps: AdminDeps<Registry>) => AdminService;
  /** Limits that differ from those of the configuration and from `HTTP_LIMITS`. */
  readonly limits?: Partial<HttpLimits>;
  /** The store's deadlines, where they differ from the default ones. */
  readonly deadlines?: ServiceSources['deadlines'];
  /** Default: true. */
  readonly opensAhead?: boolean;
}

/** Migrates, then listens. Rejects, with everything closed again, when any part cannot start. */
export const startApi = async (deps: ApiDeps): Promise<Api> => {
  const registry = new Registry();
  const { databaseReadUrl } = deps.config;
  const opened = await openService({
    ...deps,
    opensAhead: deps.opensAhead !== false,
    databaseReadUrl,
    registry,
  });
  try {
    await publishEvidence(opened.service);
    return await listen(opened, deps, registry);
  } catch (error) {
    await opened.close();
    throw error;
  }
};

const listen = async (opened: OpenedService, deps: ApiDeps, registry: Registry): Promise<Api> => {
  const { config, logger, createAdmin = createAdminService } = deps;
  const { service, fence, close: closeService } = opened;
  createFenceMetrics(registry, fence);
  const limits = limitsOf(deps);
  const authenticator = new Authenticator(service.store, service.clock, {
    adminToken: deps.secrets.adminToken,
    provisionKeys: config.provisionKeys,
  });
  const offer = await offerOf(service, deps, limits);
  const serviceReadiness = createServiceReadiness(opened);
  const waits = waitsOf(service);
  const http = createHttpService({
    clock: service.clock,
    logger,
    metrics: createHttpMetrics(registry),
    authenticate: (token, options) => authenticator.authenticate(token, options),
    handlers: handlersOf(service, registry, {
      ...{ authenticator, ...offer, ...waits },
      isHealthy: async () => (await serviceReadiness()).ok,
    }),
    features: featuresOf({
      sandbox: offer.demo !== null,
      'self-serve': offer.selfServe !== null,
      webhooks: service.webhookSecrets.current !== null,
      ssf: config.ssf && service.webhookSecrets.current !== null,
    }),
    pages: loadPages(PAGES, { hasSandbox: config.demo }),
    errorPage: loadErrorPage(PAGES, { hasSandbox: config.demo }),
    limits,
    publicBaseUrl: config.baseUrl,
    statusHost: config.statusHost,
    trustProxyHops: config.trustProxyHops,
    toApiError,
  });
  const readiness = createReadiness(opened, registry, serviceReadiness, () => http.isDraining());
  const admin = createAdmin({ registry, readiness, logger });
  const adminAddress = await admin.listen(config.adminPort, config.adminHost);
  try {
    const address = await http.listen(config.port, config.host);
    const close = async (drainMs?: number, hurry?: AbortSignal) => {
      const down = http.shutdown(drainMs, hurry);
      waits.approvalWaits.end();
      waits.streamWaits.end();
      const { connectionsCut } = await down;
      if (connectionsCut > 0) logger.warn({ connectionsCut }, 'connections cut at the shutdown deadline');
      await admin.close();
      await closeService();
    };
    return { address, adminAddress, service, packing: opened.packing, registry, close };
  } catch (error) {
    await admin.close();
    throw error;
  }
};

const limitsOf = ({ config, limits }: ApiDeps): HttpLimits => ({
  ...HTTP_LIMITS,
  ...config.tenantLimits,
  ...(config.selfServe && { selfServePerMinute: config.selfServe.perMinute }),
  ...limits,
});

/** What the sandbox offers to guests; null where the deployment has no sandbox. */
const offerOf = async (
  service: ServiceDeps,
  { config, secrets: { sandboxKeys } }: ApiDeps,
  { sandboxPerMinute: perMinute }: HttpLimits,
): Promise<Pick<EndpointDeps, 'demo' | 'selfServe'>> => {
  if (sandboxKeys === null) return { demo: null, selfServe: null };
  const sandbox = await patiently(() => openSandbox(service, sandboxKeys));
  return {
    demo: config.demo ? { sandbox, perMinute, perDay: config.demoPerDay } : null,
    selfServe: config.selfServe && { sandbox, limits: config.selfServe },
  };
};

const waitsOf = ({ store }: ServiceDeps) => ({
  approvalWaits: new Waits((ids) => store.approvals.listDecided(ids)),
  streamWaits: new Waits((ids) => store.streams.listReady(ids)),
});

const handlersOf = (
  service: ServiceDeps,
  registry: Registry,
  deps: Omit<EndpointDeps, 'service' | 'verifier' | 'approvalMetrics' | 'vectors'>,
): Handlers => {
  const endpoints = buildEndpoints({
    ...deps,
    service,
    verifier: new Verifier(service, deps.authenticator, createDecisionMetrics(registry)),
    approvalMetrics: createApprovalMetrics(registry),
    vectors: readVectorSetName(VECTORS),
  });
  return refuseWhileUnsure(limitNewcomers(endpoints, service), service.holds);
};

/** Readiness of the service and its content, and whether this node still takes requests. */
const createReadiness = (
  { service, packing }: OpenedService,
  registry: Registry,
  serviceReadiness: () => Promise<Readiness>,
  isDraining: () => boolean,
): (() => Promise<Readiness>) => {
  const content = createContentHealth(registry, service.store.checkpoints);
  // Where another process packs days, that process reports on them.
  const cold = packing?.work === undefined ? null : createColdHealth(registry, service.store.coldDays);
  const coldStore = packing && createColdStoreHealth(registry, { ...service, objects: packing.objects });
  // A start begins to report on the cold store at once, and does not wait for it.
  void coldStore?.describe();
  return async () => {
    const [{ ok, serves, checks }, ofContent, ofCold, ofColdStore] = await Promise.all([
      serviceReadiness(),
      content.describe(),
      cold?.describe(),
      coldStore?.describe(),
    ]);
    const draining = isDraining();
    return {
      ok: ok && !draining,
      serves: serves && !draining,
      checks: {
        ...checks,
        ...{ http: draining ? 'draining' : 'ok', content: ofContent },
        ...(ofCold === undefined ? {} : { cold: ofCold }),
        ...(ofColdStore === undefined ? {} : { 'cold-store': ofColdStore }),
      },
    };
  };
};

const featuresOf = (offered: Readonly<Record<Feature, boolean>>): ReadonlySet<Feature> =>
  new Set((Object.keys(offered) as Feature[]).filter((feature) => offered[feature]));

/** The one place that maps errors of the inner layers to answers. Null: a bug, answered INTERNAL. */
const toApiError = (error: unknown): ApiError | null => {
  if (error instanceof ServiceError)
    return new ApiError(error.code, error.message, {
      cause: error,
      ...(error.detail === undefined ? {} : { detail: error.detail }),
      ...(error.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    });
  if (error instanceof StoreError && error.kind !== 'conflict')
    return new ApiError('SERVICE_UNAVAILABLE', 'A backing service is unavailable. Retry shortly.', {
      cause: error,
      detail: `${error.kind}: ${error.message}`,
    });
  return null;
};
