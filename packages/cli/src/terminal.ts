/** Where a command writes, and the signal that stops it. */

export interface Terminal {
  readonly colours: boolean;
  /** Writes an answer or a part of it. */
  print(text: string): void;
  error(text: string): void;
  /** Shows the current activity in place of the previous one; null clears it. */
  progress(what: string | null): void;
  /** Aborts when the user stops the program. Used by commands that shut down in order; others end at once. */
  stop(): AbortSignal;
}

/** Shows nothing, and never stops a command. */
export const silentTerminal: Terminal = {
  colours: false,
  print: () => {},
  error: () => {},
  progress: () => {},
  stop: () => new AbortController().signal,
};

const CLEAR_LINE = '\r\u001b[K';

/**
 * The terminal of this process. With `logsProgress`, each state is written as a line if standard error is not a
 * terminal; otherwise progress is shown on a terminal only.
 */
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
