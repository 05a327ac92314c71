/** The API process. `--help` lists the variables that configure it. */
import { describeVariables } from '@svc/config';
import { closeOnSignal, createLogger, explainStartFailure } from '@svc/process';
import { runApi } from './process/run-api.ts';

const main = async (): Promise<void> => {
  if (process.argv.includes('--help')) {
    console.log(
      `The API of the verification service, configured by the environment:\n\n${describeVariables()}`,
    );
    return;
  }
  const logger = createLogger('info');
  const { api, secrets, close } = await runApi(process.env, logger);
  closeOnSignal(close, logger);
  const { address, adminAddress } = api;
  // Not through the log: a log is kept and read by others.
  if (secrets.adminTokenIsGenerated) console.error(`Admin token (development): ${secrets.adminToken}`);
  logger.info({ host: address.address, port: address.port, adminPort: adminAddress.port }, 'listening');
};

main().catch((error: unknown) => {
  console.error(explainStartFailure(error));
  process.exit(1);
});
