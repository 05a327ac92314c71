/** A value that is loaded, and loaded again on demand. The shown value stays until the new one has arrived. */
import { useEffect, useState } from 'preact/hooks';
import { problemText } from './api.ts';

export interface Loaded<T> {
  readonly value: T | null;
  readonly problem: string | null;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

const NOTHING = { value: null, problem: null, isLoading: true } as const;

/**
 * Calls `load` again when any of `inputs` changes. The value is null until it has answered for these inputs; an answer
 * for earlier inputs is dropped.
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
