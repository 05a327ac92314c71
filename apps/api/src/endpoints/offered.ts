/** Features that a deployment may leave out (contract: `Route.feature`). */
import { ApiError } from '../http/index.ts';

/** The part, where the deployment offers it. The frame answers 404 before it calls a handler; this narrows the type. */
export const offered = <T>(part: T | null): T => {
  if (part === null) throw new ApiError('NOT_FOUND', 'This deployment does not offer that');
  return part;
};
