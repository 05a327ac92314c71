/** What is loaded, and loaded again on demand. What was shown stays until it is there again. */
import { useEffect, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';

export interface Loaded<T> {
  readonly value: T | null;
  readonly problem: string | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

const NOTHING = { value: null, problem: null, isLoading: true } as const;

/**
 * `load` is asked anew when any of `inputs` changes. The value is null until it has answered these inputs; an
 * answer to what is no longer asked is dropped.
 */
export const useLoaded = <T>(load: () => Promise<T>, inputs: readonly unknown[]): Loaded<T> => {
  const [state, setState] = useState<Omit<Loaded<T>, 'reload'> & { readonly of: readonly unknown[] }>({
    ...NOTHING,
    of: inputs,
  });
  const [round, setRound] = useState(0);
  const isOfThese = inputs.every((input, i) => input === state.of[i]);
  useEffect(() => {
    let isCurrent = true;
    setState({ ...(isOfThese ? state : NOTHING), of: inputs, isLoading: true });
    load().then(
      (value) => isCurrent && setState({ of: inputs, value, problem: null, isLoading: false }),
      (error) =>
        isCurrent && setState((shown) => ({ ...shown, problem: problemText(error), isLoading: false })),
    );
    return () => {
      isCurrent = false;
    };
  }, [...inputs, round]);
  const { value, problem, isLoading } = isOfThese ? state : NOTHING;
  return { value, problem, isLoading, reload: () => setRound((before) => before + 1) };
};
