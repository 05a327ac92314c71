import type { Me } from '../shared/wire.ts';
import type { Source } from './source.ts';

/** Whose decisions are looked at, and where they come from. */
export interface Session {
  readonly title: string;
  /** A DID, or the id of an org. */
  readonly subject: string;
  /** One line. */
  readonly about: string;
  readonly role: Me['role'] | 'playground';
  readonly source: Source;
}
