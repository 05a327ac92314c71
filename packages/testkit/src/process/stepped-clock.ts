/**
 * A clock of one process that a test steps while the process runs: libfaketime, preloaded. The monotonic clock is not
 * stepped, as on a real machine. On Debian install the library with `apt-get install faketime`.
 */
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LIBRARIES = ['x86_64-linux-gnu', 'aarch64-linux-gnu'].map(
  (machine) => `/usr/lib/${machine}/faketime/libfaketimeMT.so.1`,
);

export interface SteppedClock {
  /** Environment for the process. */
  readonly env: Readonly<Record<string, string>>;
  /** Sets the clock ahead of this machine's by so many seconds; behind it where negative. */
  set(seconds: number): void;
  remove(): void;
}

/** Null where the library is not installed. */
export const findFaketime = (): string | null => LIBRARIES.find((path) => existsSync(path)) ?? null;

export const createSteppedClock = (library: string): SteppedClock => {
  const folder = mkdtempSync(join(tmpdir(), 'svc-clock-'));
  // The database runs as another user.
  chmodSync(folder, 0o755);
  const file = join(folder, 'offset');
  const set = (seconds: number) =>
    writeFileSync(file, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`, { mode: 0o644 });
  set(0);
  return {
    env: {
      LD_PRELOAD: library,
      FAKETIME_TIMESTAMP_FILE: file,
      FAKETIME_NO_CACHE: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    },
    set,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
};
