/** The end of a process. */
import type { Logger } from 'pino';

/** Ends the process in order on SIGINT and SIGTERM; a second signal ends it at once. */
export const closeOnSignal = (close: () => Promise<void>, logger: Logger): void => {
  let closing = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (closing) process.exit(1);
    closing = true;
    logger.info({ signal }, 'stopping');
    close().then(
      () => process.exit(0),
      (error: unknown) => {
        logger.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
};
