/** Failures that leave a part open rather than wrong: a newer document or an attestation could change the verdict. */
import type { Part } from '../shared/part.ts';

const OPEN: ReadonlySet<string> = new Set(['key-not-in-force', 'unknown-key']);

/** Whether there are failures, and all of them leave the part open. */
export const isOpen = (failures: Part['failures']): boolean =>
  failures.length > 0 && failures.every(({ code }) => OPEN.has(code));
