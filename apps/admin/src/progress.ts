/** Progress of a long command: one line that is overwritten on a terminal, otherwise a line at intervals. */

export interface ProgressLine {
  show(text: string): void;
  /** To be called before anything else is written. */
  clear(): void;
}

/** Interval between two lines if the output is no terminal. */
const LINE_EVERY_MS = 10_000;

export const createProgress = (): ProgressLine => {
  const isTerminal = process.stderr.isTTY === true;
  let shownMs = performance.now();
  return {
    show(text) {
      if (isTerminal) process.stderr.write(`\r\x1b[K${text}`);
      else if (performance.now() - shownMs > LINE_EVERY_MS) {
        console.error(text);
        shownMs = performance.now();
      }
    },
    clear() {
      if (isTerminal) process.stderr.write('\r\x1b[K');
    },
  };
};
