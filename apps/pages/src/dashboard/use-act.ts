/** One thing at a time that changes something: under way, or what went wrong with the latest. */
import { useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';

export interface Act {
  readonly isBusy: boolean;
  readonly problem: string | null;
  /** The problem, once its cause was seen to. */
  readonly forget: () => void;
  /** True: it was done. While one is under way nothing else begins. */
  readonly run: (work: () => Promise<unknown>) => Promise<boolean>;
}

export const useAct = (): Act => {
  const [isBusy, setIsBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const run = async (work: () => Promise<unknown>) => {
    if (isBusy) return false;
    setIsBusy(true);
    setProblem(null);
    try {
      await work();
      return true;
    } catch (error) {
      setProblem(problemText(error));
      return false;
    } finally {
      setIsBusy(false);
    }
  };
  return { isBusy, problem, forget: () => setProblem(null), run };
};
