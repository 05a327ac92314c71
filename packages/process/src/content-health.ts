/** Days whose receipts are no longer what was published (protocol §12), where an operator looks: metrics and health. */
import { type CheckpointRepository, withinMs } from '@svc/service';
import { Gauge, type Registry } from 'prom-client';
import { HEALTH_ANSWER_MS } from './admin-service.ts';

export interface ContentHealth {
  /** `ok`, or which days are broken. A broken day makes no node unready: the others must go on. */
  describe(): Promise<string>;
}

const NAMED = 5;

export const createContentHealth = (
  registry: Registry,
  checkpoints: Pick<CheckpointRepository, 'listBroken'>,
): ContentHealth => {
  const broken = () => withinMs(HEALTH_ANSWER_MS, checkpoints.listBroken(), () => null).catch(() => null);
  new Gauge({
    name: 'svc_content_broken_days',
    help: 'Published days whose receipts did not lead to their roots when last read; -1: storage does not answer.',
    registers: [registry],
    async collect() {
      this.set((await broken())?.length ?? -1);
    },
  });
  return {
    describe: async () => {
      const days = await broken();
      if (days === null) return 'unknown';
      if (days.length === 0) return 'ok';
      const more = days.length > NAMED ? ` and ${days.length - NAMED} more` : '';
      return `broken: ${days.slice(0, NAMED).join(', ')}${more}`;
    },
  };
};
