/** The end of a process. */
import type { Logger } from 'pino';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** One Ctrl-C may arrive twice: from the terminal, and passed on by npm. */
const SAME_SIGNAL_MS = 500;

export interface Closing {
  /** True from the signal on: failures of what is under way are no news any more. */
  hasBegun(): boolean;
}

/**
 * Ends the process in order on SIGINT, SIGTERM and SIGHUP (the terminal is gone); another signal later ends it at
 * once. `onClosed` runs last.
 */
export const closeOnSignal = (
  close: () => Promise<void>,
  logger: Logger,
  onClosed: () => void = () => {},
): Closing => {
  let beganMs: number | null = null;
  const onSignal = (signal: NodeJS.Signals) => {
    if (beganMs !== null) {
      if (performance.now() - beganMs > SAME_SIGNAL_MS) process.exit(1);
      return;
    }
    beganMs = performance.now();
    logger.info({ signal }, 'stopping');
    close().then(
      () => {
        logger.info('stopped');
        onClosed();
        process.exit(0);
      },
      (error: unknown) => {
        logger.error({ err: error }, 'stopping failed');
        process.exit(1);
      },
    );
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  // Writing to a terminal that is gone fails; stopping goes on.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return { hasBegun: () => beganMs !== null };
};
