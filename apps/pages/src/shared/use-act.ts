/** Runs one change at a time: whether it is under way, and what went wrong with the latest. */
import { useState } from 'preact/hooks';
import { problemText } from './api.ts';
import { Uncertain } from './uncertain.ts';

export interface Act {
  readonly isBusy: boolean;
  readonly problem: string | null;
  /** The latest change may have been made all the same, and must not be repeated. */
  readonly isUncertain: boolean;
  /** Clears the problem, once its cause has been dealt with. */
  readonly forget: () => void;
  /** True where it was done. While one is under way no other begins. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
}

export const useAct = (): Act => {
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const run = async (work: () => Promise<unknown>) => {
    if (isBusy) return false;
    setIsBusy(true);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(error);
      return false;
    } finally {
      setIsBusy(false);
    }
  };
  return {
    isBusy,
    problem: problem === null ? null : problemText(problem),
    isUncertain: problem instanceof Uncertain,
    forget: () => setProblem(null),
    run,
  };
};
