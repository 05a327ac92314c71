/** What a command that takes its time needs of the terminal, beside its answer at the end. */

export interface Terminal {
  /** What is being done, in place of what was shown before; null: nothing any more. */
  progress(what: string | null): void;
  /** An answer before the last one. */
  print(text: string): void;
  /** Aborted when the person wants it to end. Asked for by commands that end in order; others end at once. */
  stop(): AbortSignal;
}

/** Shows no progress and is never stopped. */
export const silentTerminal: Terminal = {
  progress: () => {},
  print: () => {},
  stop: () => new AbortController().signal,
};

const CLEAR_LINE = '\r\u001b[K';

/** This process. Progress is for people alone. */
export const processTerminal = (): Terminal => {
  const isShown = process.stderr.isTTY === true;
  return {
    progress: (what) => {
      if (isShown) process.stderr.write(what === null ? CLEAR_LINE : `${CLEAR_LINE}${what}`);
    },
    print: (text) => void process.stdout.write(`${text}\n`),
    stop: () => {
      const stopping = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
      return stopping.signal;
    },
  };
};
