/** What is loaded, and loaded again on demand. What was shown stays until the next answer is there. */
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';

export interface Loaded<T> {
  readonly value: T | null;
  readonly problem: string | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** `load` is asked anew when any of `inputs` changes; an answer to what is no longer asked is dropped. */
export const useLoaded = <T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> => {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'>>({
    ...{ value: null, problem: null, isLoading: true },
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    setState((shown) => ({ ...shown, isLoading: true }));
    load().then(
      (value) => isCurrent && setState({ value, problem: null, isLoading: false }),
      (error) =>
        isCurrent && setState((shown) => ({ ...shown, problem: problemText(error), isLoading: false })),
    );
    return () => {
      isCurrent = false;
    };
  }, [...inputs, round]);
  return { ...state, reload: () => setRound((before) => before + 1) };
};
