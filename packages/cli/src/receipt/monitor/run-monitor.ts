/** `svc-receipt monitor`: checks the checkpoints of a service, once or repeatedly. */
import { setTimeout as pause } from 'node:timers/promises';
import { nativeSha256 } from '@svc/merkle/native';
import { nativeCrypto } from '@svc/protocol/native';
import type { Doubt, Seen, SeenDay } from '@svc/transparency/monitor';
import {
  type Look,
  lookAtCheckpoints,
  type MonitorPin,
  pinDocument,
  pinKeys,
} from '@svc/transparency/monitor';
import { UsageError } from '../../command-line.ts';
import type { Paint } from '../../report.ts';
import type { Terminal } from '../../terminal.ts';
import { readText } from '../inputs.ts';
import type { Command } from '../options.ts';
import type { Output } from '../verdict.ts';
import { createHttpSource, HOUR_MS, PATIENCE } from './http-source.ts';
import { describeLook, lookAsJson, verdictOfLook } from './report.ts';
import { defaultStateFile, openState, writeState } from './state-file.ts';

type MonitorCommand = Extract<Command, { name: 'monitor' }>;

const EXIT_CODES = { well: 0, alarm: 1, undecided: 2 } as const;

/** With `--every` it continues until an alarm or until it is stopped. The last check is the answer. */
export const runMonitor = async (
  command: MonitorCommand,
  paint: Paint,
  terminal: Terminal,
): Promise<Output> => {
  const { origin, everySeconds, json } = command;
  const state = command.state ?? defaultStateFile(origin);
  const pin = await readPin(command);
  const stop = terminal.stop();
  let seen = await openState(state, pin);
  const writer = new StateWriter(state, seen);
  for (;;) {
    const look = await lookOnce(command, { pin, seen, writer, stop, terminal });
    seen = look.seen;
    const verdict = verdictOfLook(look);
    const stdout = json ? lookAsJson(look, state) : describeLook(look, state, paint);
    if (everySeconds === null || verdict === 'alarm' || stop.aborted)
      return { exitCode: EXIT_CODES[verdict], stdout, stderr: '' };
    terminal.print(stdout);
    await pause(everySeconds * 1000, undefined, { signal: stop }).catch(() => {});
    if (stop.aborted) return { exitCode: EXIT_CODES[verdict], stdout: '', stderr: '' };
  }
};

interface LookContext {
  readonly pin: MonitorPin;
  readonly seen: Seen;
  readonly writer: StateWriter;
  readonly stop: AbortSignal;
  readonly terminal: Terminal;
}

/** A state that cannot be written ends the check early, as `stop` does; the results up to then are reported. */
const lookOnce = async (
  { origin, recheck, since, everySeconds }: MonitorCommand,
  { pin, seen, writer, stop, terminal }: LookContext,
): Promise<Look> => {
  const failed = writer.begin();
  const ended = AbortSignal.any([stop, failed]);
  const streamsMs = Math.max(HOUR_MS, (everySeconds ?? 0) * 1000);
  const source = createHttpSource(origin, ended, { ...PATIENCE, streamsMs });
  const look = await lookAtCheckpoints({
    ...{ origin, pin, seen, since, stop: ended },
    source: {
      ...source,
      fetchStream: (path, expectedBytes) => {
        writer.flushDays();
        return source.fetchStream(path, expectedBytes);
      },
    },
    crypto: nativeCrypto,
    sha256: nativeSha256,
    nowMs: Date.now(),
    choose: (days) => (recheck === null ? days : sampleOf(days, recheck)),
    remember: (days) => writer.keep(days),
    onProgress: (what) => terminal.progress(what),
  }).finally(() => {
    terminal.progress(null);
    writer.flush();
  });
  return failed.aborted ? { ...look, doubts: [...look.doubts, unwritten(failed.reason)] } : look;
};

const unwritten = (error: unknown): Doubt => ({
  path: '/checkpoints',
  message: error instanceof Error ? error.message : 'the state cannot be written',
});

/**
 * Writes the state to its file. A write happens at once if the last one is long enough ago, otherwise at the end,
 * because a first check can see thousands of days. New days are also written before leaves are read, which may take
 * an hour or more. The mark that leaves have been read may be lost; they are then read again. After a failed write nothing is
 * written until the next check, which writes what this one could not.
 */
class StateWriter {
  readonly #path: string;
  #pending: Seen | null = null;
  #writtenDays: number;
  #writtenMs = Number.NEGATIVE_INFINITY;
  #failed = new AbortController();

  constructor(path: string, written: Seen) {
    this.#path = path;
    this.#writtenDays = written.length;
  }

  /** Begins a check. Returns its signal, which aborts with the error if a write fails. */
  begin(): AbortSignal {
    this.#failed = new AbortController();
    return this.#failed.signal;
  }

  keep(seen: Seen): void {
    this.#pending = seen;
    if (performance.now() - this.#writtenMs > GATHER_MS) this.flush();
  }

  /** Writes only if there is a new day. */
  flushDays(): void {
    if (this.#pending !== null && this.#pending.length > this.#writtenDays) this.flush();
  }

  flush(): void {
    if (this.#pending === null || this.#failed.signal.aborted) return;
    try {
      writeState(this.#path, this.#pending);
    } catch (error) {
      this.#failed.abort(error);
      return;
    }
    this.#writtenDays = this.#pending.length;
    this.#pending = null;
    this.#writtenMs = performance.now();
  }
}

const GATHER_MS = 2_000;

/** A uniform random sample of `count` days, in their order. */
const sampleOf = (days: readonly SeenDay[], count: number): readonly SeenDay[] => {
  let wanted = Math.min(count, days.length);
  return days.filter((_, i) => {
    const isTaken = Math.random() * (days.length - i) < wanted;
    if (isTaken) wanted -= 1;
    return isTaken;
  });
};

const readPin = async ({ didDocument, serviceDid, keys }: MonitorCommand): Promise<MonitorPin> => {
  const pinned =
    didDocument === undefined
      ? pinKeys(keys, serviceDid, nativeCrypto)
      : pinDocument(await readText(didDocument, 'the DID document'), serviceDid, nativeCrypto);
  if (pinned.ok) return pinned.pin;
  throw new UsageError(`the pin cannot be used: ${pinned.problem}`);
};
