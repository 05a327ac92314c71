/** A logger for the frame's own lines. */
import type { Logger } from 'pino';

/**
 * The same log for lines that contain only fields of the frame itself, none of which can be a secret. Searching each
 * line for secrets would cost more than writing it.
 */
export const withoutRedaction = (logger: Logger): Logger => logger.child({}, { redact: [] });
