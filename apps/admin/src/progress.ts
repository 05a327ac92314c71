/** How far a long command has come: on a terminal one line that is written over, else a line now and then. */

export interface ProgressLine {
  show(text: string): void;
  /** Before anything else is written. */
  clear(): void;
}

/** In a log a line now and then. */
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
