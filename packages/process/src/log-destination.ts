/**
 * Lines of the log, gathered and written to a file descriptor. sonic-boom, which pino would use, writes on for ever at the end
 * of a process when whoever read the log has gone or stopped reading; then the process never ends.
 */
import { writeSync } from 'node:fs';

/** So that logging a request costs no system call. */
const GATHERED_MS = 100;
const GATHERED_CHARS = 4_096;
/** Bytes kept for a reader that has stopped reading; what comes above is lost. */
const MAX_WAITING_BYTES = 16_777_216;
const AGAIN_MS = 20;
/** How long the end of the process waits for a reader. */
const LAST_WORDS_MS = 500;

export interface LogDestination {
  write(line: string): void;
  /** Everything that waits, or as much as the reader takes within half a second. Never throws. */
  flushSync(): void;
}

/** What cannot be written (closed terminal, full disk) is lost; the process goes on. A full pipe must answer EAGAIN. */
export const gatherLines = (fd: number): LogDestination => {
  let lines = '';
  let waiting: Buffer = Buffer.alloc(0);
  let timer: NodeJS.Timeout | undefined;

  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const gathered = Buffer.from(lines);
    lines = '';
    const hasRoom = waiting.length + gathered.length <= MAX_WAITING_BYTES;
    waiting = writeSome(fd, hasRoom ? Buffer.concat([waiting, gathered]) : waiting);
    if (waiting.length > 0) sendLater();
  };
  const sendLater = (): void => {
    timer ??= setTimeout(send, GATHERED_MS).unref();
  };
  return {
    write(line) {
      lines += line;
      // Where the reader has no room the next line would find none either.
      if (lines.length >= GATHERED_CHARS && waiting.length === 0) send();
      else sendLater();
    },
    flushSync() {
      const endMs = performance.now() + LAST_WORDS_MS;
      send();
      while (waiting.length > 0 && performance.now() < endMs) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
        send();
      }
    },
  };
};

/** Answers what there was no room for. */
const writeSome = (fd: number, bytes: Buffer): Buffer => {
  let rest = bytes;
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(fd, rest));
    return rest;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return code === 'EAGAIN' || code === 'EBUSY' ? rest : Buffer.alloc(0);
  }
};
