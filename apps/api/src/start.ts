/**
 * `npm start`: the whole service in development on the embedded database, maintenance included, its main job done once
 * for everybody to see, and then left running.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  closeOnSignal,
  createLogger,
  explainStartFailure,
  maintenanceJobs,
  reportRound,
  startMaintenance,
} from '@svc/process';
import { report } from './demonstration/report.ts';
import { createTenants, type Tenants } from './demonstration/tenants.ts';
import { freshVerifyBody, type Walkthrough, walkThrough } from './demonstration/walkthrough.ts';
import { type RunningApi, runApi } from './process/run-api.ts';

const FRESH_PROOF_EVERY_MS = 60_000;

const start = async (): Promise<void> => {
  const logger = createLogger('warn');
  const running = await runApi({ SVC_DEMO: '1', ...process.env }, logger);
  const { service } = running.api;
  const maintenance = startMaintenance(
    { store: service.store, report: reportRound(logger) },
    maintenanceJobs(service),
  );
  const close = async () => {
    await maintenance.stop();
    await running.close();
  };
  closeOnSignal(close, logger);
  try {
    await demonstrate(running);
  } catch (error) {
    await close();
    throw error;
  }
};

const demonstrate = async ({ api, config, secrets }: RunningApi): Promise<void> => {
  const baseUrl = `http://${config.host}:${api.address.port}`;
  const didDocument: unknown = await (await fetch(`${baseUrl}/.well-known/did.json`)).json();
  const tenants = await createTenants(baseUrl, secrets.adminToken, api.service.identity.did);
  const { shown, openGrant } = await walkThrough(tenants, didDocument);
  const bodyPath = join(config.dataDir, 'demonstration', 'verify.json');
  await keepFresh(bodyPath, tenants, openGrant);
  console.log(
    report({
      baseUrl: config.baseUrl,
      adminUrl: `http://${config.host}:${api.adminAddress.port}`,
      adminToken: secrets.adminToken,
      shown,
      relyingPartyKey: tenants.relyingPartyKey,
      bodyPath: relative(process.cwd(), bodyPath),
    }),
  );
  const wrong = shown.filter(({ checkedOffline }) => !checkedOffline);
  if (wrong.length > 0) throw new Error('a Receipt did not verify offline');
};

/** Writes a verification that nobody has sent yet, now and every minute: whoever reads the file sees a whole one. */
const keepFresh = async (
  path: string,
  tenants: Tenants,
  openGrant: Walkthrough['openGrant'],
): Promise<void> => {
  const write = async () => {
    mkdirSync(join(path, '..'), { recursive: true, mode: 0o700 });
    writeFileSync(`${path}.new`, await freshVerifyBody(tenants, openGrant), { mode: 0o600 });
    renameSync(`${path}.new`, path);
  };
  await write();
  setInterval(() => void write().catch(() => {}), FRESH_PROOF_EVERY_MS).unref();
};

start().catch((error: unknown) => {
  console.error(explainStartFailure(error));
  process.exit(1);
});
