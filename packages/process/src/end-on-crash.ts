/** Ends the process on an uncaught error with a redacted log line; Node's own report would print the whole error. */
import type { Logger } from 'pino';

/** Also handles unhandled rejections. The exit code is 1, and `exit` handlers run. */
export const endOnCrash = (logger: Logger): void => {
  process.on('uncaughtException', (error: unknown) => {
    // At this level the line is written synchronously.
    logger.fatal({ err: error }, 'crashed');
    process.exit(1);
  });
};
