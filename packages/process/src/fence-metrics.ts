/** A metric of the copies beside the fence (protocol §10). */
import type { Fence } from '@svc/service';
import type { Registry } from 'prom-client';
import { gauge } from './gauge.ts';

/** Creates no metric if there is no fence. */
export const createFenceMetrics = (registry: Registry, fence: Pick<Fence, 'unkeptForMs'> | null): void => {
  if (fence === null) return;
  gauge(registry, 'svc_fence_oldest_note_seconds', {
    help: 'Age of the oldest change that has not been copied beside the fence; 0: there is none.',
    read: () => fence.unkeptForMs() / 1000,
  });
};
