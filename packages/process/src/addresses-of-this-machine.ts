import { networkInterfaces } from 'node:os';

/** The present addresses of all interfaces of this machine. */
export const addressesOfThisMachine = (): readonly string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
