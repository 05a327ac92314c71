/** Parses `file:///folder` or `s3://bucket/prefix`, the form of `SVC_FENCE` and of the variables of cold days. */
import { fileURLToPath } from 'node:url';

export interface BucketPlace {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
}

export const parsePlace = (place: string): { readonly folder: string } | BucketPlace => {
  const url = new URL(place);
  if (url.protocol === 'file:') return { folder: fileURLToPath(url) };
  const prefix = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '');
  return { bucket: url.host, prefix: prefix === '' ? '' : `${prefix}/` };
};
