/** Opens the driver of the place that `SVC_FENCE` names. */
import { parsePlace } from '@svc/object-store';
import type { FenceStore } from '@svc/service';
import { openFolder } from './folder.ts';

export interface OpenedFenceStore {
  readonly fenceStore: FenceStore;
  close(): void;
}

/** `file:///folder`, or `s3://bucket/prefix` at `endpoint` (null: Amazon's). The SDK is loaded only where it is needed. */
export const openFenceStore = async (place: string, endpoint: string | null): Promise<OpenedFenceStore> => {
  const parsed = parsePlace(place);
  if ('folder' in parsed) return { fenceStore: openFolder(parsed.folder), close: () => {} };
  const { openBucket } = await import('./bucket.ts');
  const fenceStore = openBucket(parsed, endpoint);
  return { fenceStore, close: fenceStore.close };
};
