/** Logs the work and the failures of rounds. A round without work is not logged. */
import type { Logger } from 'pino';
import type { Round } from './loop.ts';

export const reportRound =
  (logger: Logger) =>
  (round: Round): void => {
    const { job } = round;
    if (round.outcome === 'failed') logger.warn({ job, err: round.error }, 'job.failed');
    if (round.outcome === 'held')
      logger.warn({ job, holds: round.holds.map(({ name }) => name) }, 'job.held');
    if (round.outcome !== 'done') return;
    const didSomething = Object.values(round.result).some((count) => count > 0);
    if (didSomething) logger.info({ job, ...round.result }, 'job.done');
  };
