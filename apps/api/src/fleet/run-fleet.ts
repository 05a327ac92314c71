/** The supervisor of several API processes: it owns the port, the admin port, their output and the signals. */
import {
  ConfigurationError,
  closeOnSignal,
  createAdminService,
  createLogger,
  endOnCrash,
  logLevelOf,
  openLogOutput,
  processFields,
  readConfig,
} from '@svc/process';
import { findPortFaults } from '../process/port-faults.ts';
import { Fleet } from './fleet.ts';

/** SIGHUP replaces all processes in turn, SIGTERM and SIGINT end them. Throws `ConfigurationError`. */
export const runFleet = async (env: NodeJS.ProcessEnv): Promise<void> => {
  const config = readConfig(env);
  const faults = await findPortFaults(config);
  if (faults.length > 0) throw new ConfigurationError(faults);
  const output = openLogOutput();
  const logger = createLogger(logLevelOf(env), output, processFields());
  endOnCrash(logger);
  const fleet = new Fleet({
    count: config.processes,
    // Without a process id of its own: its lines are about other processes.
    logger: createLogger(logLevelOf(env), output),
    // The processes have gathered these lines already, and one of them may be a revocation.
    onOutput: (lines) => {
      output.write(lines);
      output.flush();
    },
  });
  const registry = { contentType: fleet.contentType, metrics: () => fleet.metrics() };
  const admin = createAdminService({ registry, logger, readiness: () => fleet.readiness() });
  const starting = startAll();
  closeOnSignal(
    async () => {
      await Promise.allSettled([fleet.close(), starting]);
      await admin.close();
    },
    logger,
    () => {},
    ['SIGINT', 'SIGTERM'],
  );
  process.on('SIGHUP', () => {
    logger.info({ signal: 'SIGHUP' }, 'restarting');
    void starting.then(() => fleet.restart()).then(() => logger.info('restarted'));
  });
  const { address, adminAddress } = await starting;
  logger.info(
    {
      host: address.address,
      port: address.port,
      adminHost: adminAddress.address,
      adminPort: adminAddress.port,
      processes: config.processes,
    },
    'listening',
  );

  async function startAll() {
    const adminAddress = await admin.listen(config.adminPort, config.adminHost);
    try {
      return { adminAddress, address: await fleet.start() };
    } catch (error) {
      await admin.close();
      throw error;
    }
  }
};
