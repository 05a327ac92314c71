/** What checks demand, as people read it. */
import type { AnyCheck } from '../checks/table.ts';

/** The title of a check, without a word that only the engine has. The title itself is hashed with its profile, and stays. */
export const demandOf = ({ title }: Pick<AnyCheck, 'title'>): string =>
  title.replace('some survivor', 'some Capability that passed the checks before');
