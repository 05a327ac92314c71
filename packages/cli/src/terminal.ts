/** Where a command writes, and how it hears that it is to stop. */

export interface Terminal {
  readonly colours: boolean;
  /** An answer, or a part of it. */
  print(text: string): void;
  error(text: string): void;
  /** What is being done, in place of what was shown before; null: nothing any more. */
  progress(what: string | null): void;
  /** Aborted when the person wants it to end. Asked for by commands that end in order; others end at once. */
  stop(): AbortSignal;
}

/** Shows nothing and is never stopped. */
export const silentTerminal: Terminal = {
  colours: false,
  print: () => {},
  error: () => {},
  progress: () => {},
  stop: () => new AbortController().signal,
};

const CLEAR_LINE = '\r\u001b[K';

/** This process. `logsProgress`: where standard error is no terminal, each state is a line; otherwise progress is for people alone. */
export const processTerminal = ({ logsProgress = false } = {}): Terminal => {
  const { stdout, stderr } = process;
  return {
    colours: stdout.isTTY === true && !process.env.NO_COLOR,
    print: (text) => void stdout.write(`${text}\n`),
    error: (text) => void stderr.write(`${text}\n`),
    progress: (what) => {
      if (stderr.isTTY === true) stderr.write(`${CLEAR_LINE}${what ?? ''}`);
      else if (logsProgress && what !== null) stderr.write(`${what}\n`);
    },
    stop: () => {
      const stopping = new AbortController();
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
      return stopping.signal;
    },
  };
};
