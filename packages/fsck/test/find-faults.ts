/** Runs a check of a whole database and collects its findings. */
import type { ObjectStore } from '@svc/service';
import { checkDatabase, type Fault } from '../src/index.ts';

export interface Findings {
  readonly faults: readonly Fault[];
  readonly notes: readonly string[];
}

/** `objects`: the store of packed days; without it, packed days are not checked. */
export const findFaults = async (databaseUrl: string, objects?: ObjectStore): Promise<Findings> => {
  const faults: Fault[] = [];
  const { notes } = await checkDatabase({
    databaseUrl,
    ...(objects && { objects }),
    onFault: (fault) => faults.push(fault),
  });
  return { faults, notes };
};
