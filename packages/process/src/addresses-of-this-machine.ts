import { networkInterfaces } from 'node:os';

/** The addresses of all interfaces of this machine, as they are now. */
export const addressesOfThisMachine = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
