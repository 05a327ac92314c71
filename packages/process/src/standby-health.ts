/** Reports in metrics and health on the synchronous standby that a deployment promises (`SVC_SYNCHRONOUS_STANDBY`). */
import { type Store, withinMs } from '@svc/service';
import type { Registry } from 'prom-client';
import { HEALTH_ANSWER_MS } from './admin-service.ts';
import { gauge } from './gauge.ts';

export interface StandbyHealth {
  /**
   * `ok`, or what is missing. The database determines whether decisions go on without the standby, so no node becomes
   * unready.
   */
  describe(): Promise<string>;
}

const UNKNOWN = 'unknown';

export const createStandbyHealth = (
  registry: Registry,
  store: Pick<Store, 'describeStandby'>,
): StandbyHealth => {
  const describe = () =>
    withinMs(HEALTH_ANSWER_MS, store.describeStandby(), () => UNKNOWN).catch(() => UNKNOWN);
  gauge(registry, 'svc_synchronous_standby_missing', {
    help: '1 while no synchronous standby has everything that was answered, although the deployment promises one; -1: storage does not answer.',
    read: async () => {
      const found = await describe();
      return found === 'ok' ? 0 : found === UNKNOWN ? -1 : 1;
    },
  });
  return { describe };
};
