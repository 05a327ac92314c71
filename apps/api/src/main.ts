/** The API process. `--help` lists the variables that configure it. */
import { describeVariables } from '@svc/config';
import { closeOnSignal, createLogger, endOnCrash, explainStartFailure, readParameters } from '@svc/process';
import { runApi } from './process/run-api.ts';

const main = async (): Promise<void> => {
  if (readParameters(process.argv.slice(2), ['--help']).has('--help')) {
    console.log(
      `The API of the verification service, configured by the environment:\n\n${describeVariables()}`,
    );
    return;
  }
  const logger = createLogger('info');
  endOnCrash(logger);
  const starting = runApi(process.env, logger);
  // A signal during the start waits for its end. When it fails, that is said below.
  closeOnSignal(async () => {
    const running = await starting.catch(() => null);
    await running?.close();
  }, logger);
  const { api, secrets } = await starting;
  const { address, adminAddress } = api;
  // Not through the log: a log is kept and read by others.
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

main().catch((error: unknown) => {
  console.error(explainStartFailure(error));
  process.exit(1);
});
