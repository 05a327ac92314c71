/** All migrations in the order of their names. Forward only: a released one never changes. */
import { foundation } from './0001-foundation/foundation.ts';
import { registry } from './0002-registry/registry.ts';
import { serviceKeys } from './0003-service-keys/service-keys.ts';

export interface Migration {
  readonly name: string;
  readonly sql: string;
}

export const migrations: readonly Migration[] = [foundation, registry, serviceKeys];
