/** From where `SVC_FENCE` points to the driver. */
import { fileURLToPath } from 'node:url';
import type { FenceStore } from '@svc/service';
import { openFolder } from './folder.ts';

export interface OpenedFenceStore {
  readonly fenceStore: FenceStore;
  close(): void;
}

/** `file:///folder`, or `s3://bucket/prefix` at `endpoint` (null: Amazon's). The SDK is loaded only where it is needed. */
export const openFenceStore = async (place: string, endpoint: string | null): Promise<OpenedFenceStore> => {
  const url = new URL(place);
  if (url.protocol === 'file:') return { fenceStore: openFolder(fileURLToPath(url)), close: () => {} };
  const { openBucket } = await import('./bucket.ts');
  const folder = url.pathname.replace(/^\/+|\/+$/g, '');
  const fenceStore = openBucket({
    bucket: url.host,
    prefix: folder === '' ? '' : `${decodeURIComponent(folder)}/`,
    endpoint,
  });
  return { fenceStore, close: fenceStore.close };
};
