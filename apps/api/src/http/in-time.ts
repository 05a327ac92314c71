/** Applies the deadline of a request to what the frame waits for before it calls the handler. */
import { withinMs } from '@svc/service';
import { ApiError } from './api-error.ts';
import type { Exchange } from './exchange.ts';

/** Settles as `work` does, or rejects with a 503 when the answer is due. */
export const inTime = <T>({ answerByMs }: Exchange, what: string, work: Promise<T>): Promise<T> => {
  if (answerByMs === null) return work;
  return withinMs(Math.max(0, answerByMs - performance.now()), work, () => {
    throw new ApiError(
      'SERVICE_UNAVAILABLE',
      'The request could not be answered in time. Nothing was decided.',
      {
        detail: `deadline: ${what}`,
      },
    );
  });
};
