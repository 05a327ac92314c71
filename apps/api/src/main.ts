/**
 * The API: one process or, with `SVC_PROCESSES`, several behind one port. `--help` lists the variables that configure
 * it.
 */
import cluster from 'node:cluster';
import { describeVariables } from '@svc/config';
import {
  closeOnSignal,
  createLogger,
  endOnCrash,
  explainStartFailure,
  logLevelOf,
  openLogOutput,
  processFields,
  programVersion,
  readConfig,
  readParameters,
  startFailureCode,
} from '@svc/process';
import { answerSupervisor, createMemberAdmin, tellListening } from './fleet/member.ts';
import { runFleet } from './fleet/run-fleet.ts';
import { runApi } from './process/run-api.ts';

const main = async (): Promise<void> => {
  const parameters = readParameters(process.argv.slice(2), ['--help', '--version']);
  if (parameters.has('--version')) return console.log(programVersion);
  if (parameters.has('--help')) {
    console.log(
      `The API of the verification service. These environment variables configure it:\n\n${describeVariables()}`,
    );
    return;
  }
  if (cluster.isWorker) await runMember();
  else if (readConfig(process.env).processes > 1) await runFleet(process.env);
  else await runAlone();
};

const runAlone = async (): Promise<void> => {
  const logger = createLogger(logLevelOf(process.env), openLogOutput(), processFields());
  endOnCrash(logger);
  const starting = runApi(process.env, logger);
  // A signal during the start waits until the start has ended. If the start fails, the code below reports it.
  closeOnSignal(async () => {
    const running = await starting.catch(() => null);
    await running?.close();
  }, logger);
  const { api, secrets } = await starting;
  const { address, adminAddress } = api;
  // Not through the log, which is kept and read by others.
  if (secrets.adminTokenIsGenerated) console.error(`Admin token (development): ${secrets.adminToken}`);
  logger.info(
    {
      host: address.address,
      port: address.port,
      adminHost: adminAddress.address,
      adminPort: adminAddress.port,
    },
    'listening',
  );
};

/** No caller waits for this process to end, since another one has the port, unless the supervisor has to end too. */
const HANDED_OVER_DRAIN_MS = 120_000;

/**
 * One of several processes. The supervisor has the admin port, handles SIGHUP, and reports where the processes listen.
 */
const runMember = async (): Promise<void> => {
  const logger = createLogger(logLevelOf(process.env), openLogOutput(), processFields());
  endOnCrash(logger);
  const supervisor = answerSupervisor();
  const options = { ownsDataDir: false, createAdmin: createMemberAdmin };
  const starting = runApi(process.env, logger, options);
  closeOnSignal(
    async () => {
      const running = await starting.catch(() => null);
      await running?.close(supervisor.isHandedOver() ? HANDED_OVER_DRAIN_MS : undefined, supervisor.hurry);
    },
    logger,
    () => {},
    ['SIGINT', 'SIGTERM'],
  );
  // A SIGHUP to the whole process group is handled by the supervisor.
  process.on('SIGHUP', () => {});
  const { api, secrets } = await starting;
  const { address } = api;
  if (secrets.adminTokenIsGenerated && cluster.worker?.id === 1)
    console.error(`Admin token (development): ${secrets.adminToken}`);
  logger.info('process.listening');
  await tellListening(address);
};

main().catch((error: unknown) => {
  console.error(explainStartFailure(error));
  process.exit(startFailureCode(error));
});
