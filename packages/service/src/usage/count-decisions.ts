/** Counts decisions on request, on a replica or the connections for reports, where this delays no decision. */
import type { ServiceDeps } from '../deps.ts';
import { invalidRequest } from '../errors.ts';
import { TooManyCountsError } from '../ports/store.ts';
import type { UsageRepository } from '../ports/usage.ts';

/** `INVALID_REQUEST` when the period includes part of a cold day and the count over that part needs too many groups. */
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
