/** What may have been done although it was not answered so, where doing it again is not the same as having done it once. */
import { ApiProblem } from '../shared/api.ts';

/**
 * Said in place of an answer: what may be so, and what to do. Confirm offers no second attempt after it. A form keeps what was
 * typed, and can be sent again: what it says then names what to look at first.
 */
export class Uncertain extends Error {
  override readonly name = 'Uncertain';
}

/** A proxy answers 502 or 504 in place of a node, and 503 may stand for what was stored. */
const isUncertain = (error: unknown): error is ApiProblem =>
  error instanceof ApiProblem && (error.status === 0 || error.status >= 500);

/** Does what must be done once. Rejects with Uncertain, which ends in `says`, where it is not known whether it was done. */
export const onceOnly = async <T>(work: () => Promise<T>, says: string): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isUncertain(error)) throw error;
    throw new Uncertain(`${error.message} ${says}`);
  }
};
