/** Use cases of the service and the ports they stand on. */
export * from './ports/ports.ts';
export * from './ports/records.ts';
export * from './ports/store.ts';
