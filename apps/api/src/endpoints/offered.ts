/** What a deployment may leave out (contract: `Route.feature`). */
import { ApiError } from '../http/index.ts';

/** The part, where it is offered. The frame answers 404 before a handler is called; this says it to the types. */
export const offered = <T>(part: T | null): T => {
  if (part === null) throw new ApiError('NOT_FOUND', 'This deployment does not offer that');
  return part;
};
