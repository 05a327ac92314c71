/** The frame's own lines of the log. */
import type { Logger } from 'pino';

/**
 * The same log for lines made only of fields the frame itself puts together, none of which can be a secret. Looking
 * for secrets in each of them would cost more than the line.
 */
export const withoutRedaction = (logger: Logger): Logger => logger.child({}, { redact: [] });
