/** Counts that a caller asks for, where they are in nobody's way. */
import type { ServiceDeps } from '../deps.ts';
import { invalidRequest } from '../errors.ts';
import { TooManyCountsError } from '../ports/store.ts';
import type { UsageRepository } from '../ports/usage.ts';

/** `INVALID_REQUEST` where the period has a part of a day of which too much is asked. */
export const countDecisions = async <T>(
  { store }: Pick<ServiceDeps, 'store'>,
  work: (usage: UsageRepository) => Promise<T>,
): Promise<T> => {
  try {
    return await store.report(({ usage }) => work(usage));
  } catch (error) {
    throw error instanceof TooManyCountsError ? invalidRequest(error.message) : error;
  }
};
