/** The target of a request as it was received: the path and query that its URL is built from. */
import { normalizeHtu } from '@svc/codec';

/** Only a path: an absolute target, or one that would continue the host, is not taken for one. */
export const joinTarget = (origin: string, target: string): string | null =>
  target.startsWith('/') ? `${origin}${target}` : null;

/**
 * Whether the path as received is its own normal form. Authority is checked for the normal form and a router goes by
 * the path as received: for `/danger/../safe` the two would be different places.
 */
export const isNormalTarget = (target: string): boolean => {
  const path = pathOf(target);
  const url = `http://host${path}`;
  return path.startsWith('/') && normalizeHtu(url) === url && !/%(?:2F|5C)/i.test(path);
};

/** `/` alone is the only address of its place. A router may take what follows a `;` for parameters, and go by what is before it. */
export const hasTrailingSlash = (target: string): boolean => {
  const path = pathOf(target);
  return path !== '/' && /\/(?:;[^/]*)?$/.test(path);
};

/** A router may take two slashes in a row for one: Express 4 does, behind the path at which a router is mounted. */
export const hasEmptySegment = (target: string): boolean => pathOf(target).includes('//');

const pathOf = (target: string): string => target.split(/[?#]/, 1)[0] ?? '';
