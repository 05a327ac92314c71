/**
 * The fence of a process (protocol §10): opened in the configured place, observed by the process's holds, closed with
 * it.
 */
import type { Config } from '@svc/config';
import { openFenceStore } from '@svc/fence';
import { Fence, type ServiceDeps } from '@svc/service';

export interface OpenedFence {
  /** Null: the deployment has no fence. */
  readonly fence: Fence | null;
  close(): Promise<void>;
}

/** For a command, or for a deployment without a fence. */
export const NO_FENCE: OpenedFence = { fence: null, close: async () => {} };

type Deps = Pick<ServiceDeps, 'store' | 'random' | 'crypto' | 'identity' | 'log' | 'holds'>;

/**
 * Resolves after the first look, whatever its result: a process that may not decide starts all the same, and reports
 * why.
 */
export const openFence = async (
  service: Deps,
  { env, fence: configured }: Pick<Config, 'env' | 'fence'>,
): Promise<OpenedFence> => {
  if (configured === null) {
    if (env === 'production')
      service.log.warn('fence.none', { why: 'SVC_FENCE is none, so nothing detects a restored backup' });
    return NO_FENCE;
  }
  const { fenceStore, assertConditional, close } = await openFenceStore(
    configured.place,
    configured.endpoint,
  );
  // Before the first beat: a database that has one is refused from then on where its fence is not found.
  const find: typeof fenceStore.find = async (key) => {
    await assertConditional();
    return fenceStore.find(key);
  };
  const fence = new Fence(service, {
    fenceStore: { ...fenceStore, find },
    maxAgeMs: configured.maxAgeMs,
  });
  service.holds.watch('fence', () => fence.problem());
  await fence.start();
  return {
    fence,
    close: async () => {
      await fence.stop();
      close();
    },
  };
};
