/** Graceful shutdown. */
import type { Logger } from 'pino';

const SIGNALS: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];

/** One Ctrl-C can arrive twice: from the terminal, and forwarded by npm. */
const SAME_SIGNAL_MS = 500;

export interface Closing {
  /** True once a signal has arrived: pending work is then expected to fail. */
  hasBegun(): boolean;
}

/**
 * Shuts the process down on SIGINT, SIGTERM and SIGHUP (the terminal is gone); another signal later ends it at once.
 * `onClosed` runs last. `signals` replaces this list: a process that handles SIGHUP itself leaves it out.
 */
export const closeOnSignal = (
  close: () => Promise<void>,
  logger: Logger,
  onClosed: () => void = () => {},
  signals = SIGNALS,
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
  for (const signal of signals) process.on(signal, onSignal);
  // Writing to a closed terminal fails; shutdown continues.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return { hasBegun: () => beganMs !== null };
};
