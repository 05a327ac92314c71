/**
 * Acts that may have been done although the answer was lost, where doing them twice is not the same as doing them once.
 */
import { ApiProblem } from './api.ts';

/**
 * Says what may have happened and what to do. Confirm offers no second attempt after it. A form keeps its fields and
 * can be sent again; the message then names what to check first.
 */
export class Uncertain extends Error {
  override readonly name = 'Uncertain';
}

/** A proxy answers 502 or 504 in place of a node, and a 503 may follow a change that was stored. */
const isUncertain = (error: unknown): error is ApiProblem =>
  error instanceof ApiProblem && (error.status === 0 || error.status >= 500);

/**
 * Does what must be done once. Rejects with Uncertain, whose message ends in `says`, where it is not known whether it
 * was done.
 */
export const onceOnly = async <T>(work: () => Promise<T>, says: string): Promise<T> => {
  try {
    return await work();
  } catch (error) {
    if (!isUncertain(error)) throw error;
    throw new Uncertain(`${error.message} ${says}`);
  }
};
