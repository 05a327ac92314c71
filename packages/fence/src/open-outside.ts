/** Opens the driver of the place that `SVC_FENCE` names. */
import { fileURLToPath } from 'node:url';
import type { FenceStore } from '@svc/service';
import { openFolder } from './folder.ts';

export interface OpenedOutside {
  readonly outside: FenceStore;
  close(): void;
}

/** `file:///folder`, or `s3://bucket/prefix` at `endpoint` (null: Amazon's). The SDK is loaded only where it is needed. */
export const openOutside = async (place: string, endpoint: string | null): Promise<OpenedOutside> => {
  const url = new URL(place);
  if (url.protocol === 'file:') return { outside: openFolder(fileURLToPath(url)), close: () => {} };
  const { openBucket } = await import('./bucket.ts');
  const folder = url.pathname.replace(/^\/+|\/+$/g, '');
  const outside = openBucket({
    bucket: url.host,
    prefix: folder === '' ? '' : `${decodeURIComponent(folder)}/`,
    endpoint,
  });
  return { outside, close: outside.close };
};
