/** The target of a received request: the path and query from which its URL is built. */
import { normalizeHtu } from '@svc/codec';

/** Accepts only a path. Refuses an absolute target and a target that would extend the host. */
export const joinTarget = (origin: string, target: string): string | null =>
  target.startsWith('/') ? `${origin}${target}` : null;

/**
 * Whether the received path is in normal form. The service checks authority for the normal form, but a router uses the
 * received path: for `/danger/../safe` the two would be different places.
 */
export const isNormalTarget = (target: string): boolean => {
  const path = pathOf(target);
  const url = `http://host${path}`;
  return path.startsWith('/') && normalizeHtu(url) === url && !/%(?:2F|5C)/i.test(path);
};

/** The path `/` alone may end in a slash. A router may treat the part after a `;` as parameters and ignore it. */
export const hasTrailingSlash = (target: string): boolean => {
  const path = pathOf(target);
  return path !== '/' && /\/(?:;[^/]*)?$/.test(path);
};

/** A router may treat two slashes as one: Express 4 does, for paths below the mount point of a router. */
export const hasEmptySegment = (target: string): boolean => pathOf(target).includes('//');

const pathOf = (target: string): string => target.split(/[?#]/, 1)[0] ?? '';
