/**
 * `npm start`: the whole service in development on the embedded database, including maintenance and conformance runs.
 * It carries out the main use once as a demonstration, and then keeps running.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { describeVariables } from '@svc/config';
import {
  ConfigurationError,
  closeOnSignal,
  createJobMetrics,
  createLogger,
  createRunReporter,
  createRunTransport,
  endOnCrash,
  explainStartFailure,
  maintenanceJobs,
  openDeliverer,
  type Round,
  readConfig,
  readParameters,
  readVectorsBeside,
  reportRound,
  runPackThread,
  startConformanceRunner,
  startEventDeliverer,
  startMaintenance,
} from '@svc/process';
import type { Logger } from 'pino';
import { VECTORS } from './compose.ts';
import { environmentOf } from './demonstration/environment.ts';
import { report, urlOfListener } from './demonstration/report.ts';
import { createTenants, type Tenants } from './demonstration/tenants.ts';
import { openTerminalLog } from './demonstration/terminal-log.ts';
import { freshVerifyBody, type Walkthrough, walkThrough } from './demonstration/walkthrough.ts';
import { type RunningApi, runApi } from './process/run-api.ts';

const FRESH_PROOF_EVERY_MS = 60_000;
const DEMO = { SVC_DEMO: '1' };
/** Folder, within the data folder, for days that ended `SVC_HOT_DAYS` ago or earlier. */
const COLD = 'cold';

const HELP = `npm start runs the whole service in development, with its own embedded PostgreSQL. These environment variables configure it:

${describeVariables()}`;

const start = async (): Promise<void> => {
  if (readParameters(process.argv.slice(2), ['--help']).has('--help')) return console.log(HELP);
  if (process.env.SVC_ENV === 'production')
    throw new ConfigurationError([
      'SVC_ENV=production: npm start is for development. In production run `npm run build`, then',
      '`node apps/api/dist/main.js` and `node apps/worker/dist/main.js` (docs/operations.md)',
    ]);
  const { dataDir } = readConfig({ ...DEMO, ...process.env });
  const logger = createLogger('warn', openTerminalLog(dataDir));
  endOnCrash(logger);
  const starting = startAll(dataDir, logger);
  const closing = closeOnSignal(
    async () => {
      const started = await starting.catch(() => null);
      await started?.close();
    },
    logger,
    () => console.log('stopped'),
  );
  try {
    await demonstrate((await starting).running);
  } catch (error) {
    // Stopped in the middle: the remaining steps cannot succeed.
    if (closing.hasBegun()) return;
    await starting.then(({ close }) => close()).catch(() => {});
    throw error;
  }
};

const startAll = async (
  dataDir: string,
  logger: Logger,
): Promise<{ running: RunningApi; close(): Promise<void> }> => {
  const cold = { SVC_COLD: pathToFileURL(resolve(dataDir, COLD)).href };
  const running = await runApi({ ...DEMO, ...cold, ...process.env }, logger, {
    ownsDataDir: true,
    packThread: new URL(import.meta.url),
  });
  const { service, packing, registry } = running.api;
  const jobs = maintenanceJobs(service, packing);
  const metrics = createJobMetrics(registry, jobs);
  const log = reportRound(logger);
  const report = (round: Round) => {
    metrics.record(round);
    log(round);
  };
  const maintenance = startMaintenance({ ...service, report }, jobs);
  const conformance = startConformanceRunner({
    runs: service.store.conformanceRuns,
    clock: service.clock,
    vectors: readVectorsBeside(VECTORS),
    transport: createRunTransport(running.config, service.identity),
    ...createRunReporter(logger, registry),
  });
  const deliverer = openDeliverer(service, running.config, logger, registry);
  const delivering = deliverer === null ? null : startEventDeliverer(deliverer);
  const close = async () => {
    await Promise.all([maintenance.stop(), conformance.stop(), delivering?.stop()]);
    await running.close();
  };
  return { running, close };
};

const demonstrate = async ({ api, config, secrets, notes }: RunningApi): Promise<void> => {
  const baseUrl = urlOfListener(config.host, api.address.port);
  const didDocument: unknown = await (await fetch(`${baseUrl}/.well-known/did.json`)).json();
  const tenants = await createTenants(baseUrl, secrets.adminToken, api.service.identity.did);
  const { shown, openGrant } = await walkThrough(tenants, didDocument);
  const folder = join(config.dataDir, 'demonstration');
  const bodyPath = join(folder, 'verify.json');
  const envPath = join(folder, 'env');
  await keepFresh(bodyPath, tenants, openGrant);
  const service = {
    baseUrl: config.baseUrl,
    adminToken: secrets.adminToken,
    serviceDid: api.service.identity.did,
  };
  writeWhole(envPath, environmentOf(service, tenants, openGrant));
  console.log(
    report({
      ...service,
      adminUrl: urlOfListener(config.adminHost, api.adminAddress.port),
      hasPlayground: config.demo,
      shown,
      relyingPartyKey: tenants.relyingPartyKey,
      // An absolute path, since the command is pasted into another terminal with any working directory.
      bodyPath: resolve(bodyPath),
      envPath: resolve(envPath),
      notes,
    }),
  );
  const wrong = shown.filter(({ checkedOffline }) => !checkedOffline);
  if (wrong.length > 0) throw new Error('a Receipt did not verify offline');
};

/** Writes a verification that has not been sent yet, now and every minute. */
const keepFresh = async (
  path: string,
  tenants: Tenants,
  openGrant: Walkthrough['openGrant'],
): Promise<void> => {
  const write = async () => {
    writeWhole(path, await freshVerifyBody(tenants, openGrant));
  };
  await write();
  setInterval(() => void write().catch(() => {}), FRESH_PROOF_EVERY_MS).unref();
};

/** Replaces a file atomically, so that readers see the old or the new text. Only its owner can read it. */
const writeWhole = (path: string, text: string): void => {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, text, { mode: 0o600 });
  renameSync(`${path}.new`, path);
};

// The thread that packs days runs this program again.
if (isMainThread)
  start().catch((error: unknown) => {
    console.error(explainStartFailure(error));
    process.exit(1);
  });
else void runPackThread();
