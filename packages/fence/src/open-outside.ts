/** Opens the driver of the place that `SVC_FENCE` names. */
import { parsePlace } from '@svc/object-store';
import type { FenceStore } from '@svc/service';
import { openFolder } from './folder.ts';

export interface OpenedOutside {
  readonly outside: FenceStore;
  close(): void;
}

/** `file:///folder`, or `s3://bucket/prefix` at `endpoint` (null: Amazon's). The SDK is loaded only where it is needed. */
export const openOutside = async (place: string, endpoint: string | null): Promise<OpenedOutside> => {
  const parsed = parsePlace(place);
  if ('folder' in parsed) return { outside: openFolder(parsed.folder), close: () => {} };
  const { openBucket } = await import('./bucket.ts');
  const outside = openBucket(parsed, endpoint);
  return { outside, close: outside.close };
};
