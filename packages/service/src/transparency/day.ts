/** UTC days as text, `YYYY-MM-DD`. */
import type { Day } from '../ports/checkpoints.ts';

export const dayOf = (ms: number): Day => new Date(ms).toISOString().slice(0, 10);
