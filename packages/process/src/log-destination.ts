/**
 * Gathers lines of the log and writes them to a file descriptor. pino's default, sonic-boom, retries for ever at the
 * end of a process if the reader of the log has gone or stopped reading; then the process never ends.
 */
import { writeSync } from 'node:fs';

/** Milliseconds for which lines are gathered, so that logging a request costs no system call. */
const GATHERED_MS = 100;
const GATHERED_CHARS = 4_096;
/** Bytes kept for a reader that has stopped reading; lines beyond are lost. */
const MAX_WAITING_BYTES = 16_777_216;
const AGAIN_MS = 20;
/** Milliseconds that a line which must be written at once waits for a reader. */
const FLUSH_MS = 60;
/** Milliseconds that the end of the process waits for a reader. */
const LAST_WORDS_MS = 500;
const LINE_END = 10;

export interface LogDestination {
  write(line: string): void;
  /**
   * Writes the waiting lines before it returns, or as many as the reader takes within 60 ms. A reader that has not
   * taken all in that time is not waited for again until it has. Never throws.
   */
  flush(): void;
  /** Writes all waiting lines, or as many as the reader takes within half a second. Never throws. */
  flushSync(): void;
  /** Number of lines that are lost for good. */
  lostLines(): number;
}

type Write = (fd: number, bytes: Buffer) => number;

/**
 * Lines that cannot be written (closed terminal, full disk) are lost and counted; the process goes on. A full pipe must
 * answer EAGAIN. `write`: default is that of the system.
 */
export const gatherLines = (fd: number, write: Write = writeSync): LogDestination => {
  const output = new Output(fd, write);
  let lines = '';
  let timer: NodeJS.Timeout | undefined;
  let isStalled = false;

  const send = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const gathered = Buffer.from(lines);
    lines = '';
    output.take(gathered);
    if (output.waits) sendLater();
    else isStalled = false;
  };
  const sendLater = (): void => {
    timer ??= setTimeout(send, GATHERED_MS).unref();
  };
  const sendWithin = (ms: number): void => {
    const endMs = performance.now() + ms;
    send();
    while (output.waits && performance.now() < endMs) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, AGAIN_MS);
      send();
    }
  };
  return {
    write(line) {
      lines += line;
      // If the reader has no room, the next line would find none either.
      if (lines.length >= GATHERED_CHARS && !output.waits) send();
      else sendLater();
    },
    flush() {
      sendWithin(isStalled ? 0 : FLUSH_MS);
      isStalled = output.waits;
    },
    flushSync: () => sendWithin(LAST_WORDS_MS),
    lostLines: () => output.lost,
  };
};

/** The descriptor, the bytes that it had no room for yet, and the number of lines lost. */
class Output {
  /** Number of lost lines. */
  lost = 0;
  #waiting: Buffer = Buffer.alloc(0);
  /** True: the last byte written ended a line. */
  #isWhole = true;
  /**
   * True: the output ends within a line whose rest was lost. The next line would be read as part of it, so a line end
   * comes first.
   */
  #isTorn = false;

  constructor(
    private readonly fd: number,
    private readonly write: Write,
  ) {}

  get waits(): boolean {
    return this.#waiting.length > 0;
  }

  /** Writes the waiting bytes and then `bytes`, as far as there is room. */
  take(bytes: Buffer): void {
    if (!this.waits) this.#waiting = bytes;
    else if (this.#waiting.length + bytes.length > MAX_WAITING_BYTES) this.lost += countLines(bytes);
    else if (bytes.length > 0) this.#waiting = Buffer.concat([this.#waiting, bytes]);
    try {
      while (this.waits) this.#writeSome();
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EAGAIN' || code === 'EBUSY') return;
      this.lost += countLines(this.#waiting);
      this.#waiting = Buffer.alloc(0);
      this.#isTorn = !this.#isWhole;
    }
  }

  #writeSome(): void {
    if (this.#isTorn) {
      this.write(this.fd, Buffer.of(LINE_END));
      this.#isTorn = false;
      this.#isWhole = true;
    }
    const written = this.write(this.fd, this.#waiting);
    this.#isWhole = this.#waiting[written - 1] === LINE_END;
    this.#waiting = this.#waiting.subarray(written);
  }
}

const countLines = (bytes: Buffer): number => {
  let count = 0;
  for (const byte of bytes) if (byte === LINE_END) count += 1;
  return count;
};
