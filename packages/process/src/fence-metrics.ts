/** The copies beside the fence (protocol §10) as a metric. */
import type { Fence } from '@svc/service';
import { Gauge, type Registry } from 'prom-client';

/** Nothing where there is no fence. */
export const createFenceMetrics = (registry: Registry, fence: Pick<Fence, 'unkeptForMs'> | null): void => {
  if (fence === null) return;
  new Gauge({
    name: 'svc_fence_oldest_note_seconds',
    help: 'Age of the oldest change that has not been copied beside the fence; 0: there is none.',
    registers: [registry],
    collect() {
      this.set(fence.unkeptForMs() / 1000);
    },
  });
};
