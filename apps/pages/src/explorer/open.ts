/** What is not known to be wrong: a newer document or an attestation could judge it otherwise. */
import type { Part } from '../shared/part.ts';

const OPEN: ReadonlySet<string> = new Set(['key-not-in-force', 'unknown-key']);

/** Whether there are failures, and nothing but such. */
export const isOpen = (failures: Part['failures']): boolean =>
  failures.length > 0 && failures.every(({ code }) => OPEN.has(code));
