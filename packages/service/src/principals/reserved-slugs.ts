/** Slugs that only the operator assigns: the holder of one could be taken for the service. */
import type { Caller } from '../access/caller.ts';
import { conflict } from '../errors.ts';
import { SANDBOX_SLUG } from './domain.ts';

const RESERVED_SLUGS: ReadonlySet<string> = new Set([
  SANDBOX_SLUG,
  'admin',
  'api',
  'app',
  'billing',
  'console',
  'dashboard',
  'demo',
  'docs',
  'help',
  'internal',
  'login',
  'mail',
  'official',
  'playground',
  'root',
  'security',
  'self-serve',
  'service',
  'staff',
  'status',
  'support',
  'svc',
  'system',
  'test',
  'transparency',
  'www',
]);

/** `CONFLICT` for a slug that this caller cannot have. Nobody can have the slug of the sandbox. */
export const requireOpenSlug = ({ class: of }: Pick<Caller, 'class'>, slug: string): void => {
  if (slug === SANDBOX_SLUG || (of !== 'admin' && RESERVED_SLUGS.has(slug)))
    throw conflict(`slug: ${slug} is reserved.`);
};
