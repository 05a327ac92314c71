/** Opens the driver of the place that `SVC_FENCE` names. */
import { parsePlace } from '@svc/object-store';
import type { FenceStore } from '@svc/service';
import { openFolder } from './folder.ts';

export interface OpenedFenceStore {
  readonly fenceStore: FenceStore;
  /**
   * Rejects where the store does not compare and set; with `MayNotWrite` where the credentials do not let it be tried.
   * It leaves an object `probe` in a bucket. Every `put` does this first.
   */
  assertConditional(): Promise<void>;
  close(): void;
}

/** `file:///folder`, or `s3://bucket/prefix` at `endpoint` (null: Amazon's). The SDK is loaded only where it is needed. */
export const openFenceStore = async (place: string, endpoint: string | null): Promise<OpenedFenceStore> => {
  const parsed = parsePlace(place);
  if ('folder' in parsed)
    return { fenceStore: openFolder(parsed.folder), assertConditional: async () => {}, close: () => {} };
  const { openBucket } = await import('./bucket.ts');
  const fenceStore = openBucket(parsed, endpoint);
  return { fenceStore, assertConditional: fenceStore.assertConditional, close: fenceStore.close };
};
