import { networkInterfaces } from 'node:os';

/** Of all its interfaces, as they are now. */
export const addressesOfThisMachine = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
