/** What a check demands, in words for people. */
import type { AnyCheck } from '../checks/table.ts';

/**
 * The title of a check, with a term of the engine replaced. The title itself is hashed with its profile, so it does not
 * change.
 */
export const demandOf = ({ title }: Pick<AnyCheck, 'title'>): string =>
  title.replace('some survivor', 'some Capability that passed the checks before');
