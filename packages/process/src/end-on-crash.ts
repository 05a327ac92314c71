/** A failure that nobody caught ends the process, with a log line like any other: Node's own would show all it holds. */
import type { Logger } from 'pino';

/** Rejections that nobody caught too. The exit code is 1, and handlers of `exit` run. */
export const endOnCrash = (logger: Logger): void => {
  process.on('uncaughtException', (error: unknown) => {
    // At this level the line is written before the call returns.
    logger.fatal({ err: error }, 'crashed');
    process.exit(1);
  });
};
