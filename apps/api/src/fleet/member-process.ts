/** A process of the fleet as seen by the supervisor: whether it listens, its answers, and its latest counts. */
import type { Worker } from 'node:cluster';
import { withinMs } from '@svc/service';
import {
  type Answers,
  isMemberMessage,
  type MemberMessage,
  type MetricSnapshot,
  type QuestionKind,
} from './messages.ts';

/** A process that does not answer is told to end all the same. */
const ASK_MS = 1_000;

/** `starting` until the process listens; `closing` from the moment it was told to end. */
export type MemberState = 'starting' | 'listening' | 'closing' | 'ended';

export class MemberProcess {
  state: MemberState = 'starting';
  /** Monotonic; null: the process does not listen yet. */
  listeningSinceMs: number | null = null;
  /** True: the process was told to end. */
  wasTold = false;
  /** Number of the supervisor's health checks since the process last answered. */
  silentLooks = 0;
  metrics: readonly MetricSnapshot[] = [];
  address: { readonly address: string; readonly port: number } | null = null;
  /** True: the process listens. False: it ended before that. */
  readonly started: Promise<boolean>;
  /** Resolves when the process has ended and all its output has been read. */
  readonly ended: Promise<void>;
  readonly #waiting = new Map<number, (value: Answers[QuestionKind]) => void>();
  #questions = 0;
  #onStarted: (listens: boolean) => void = () => {};

  constructor(readonly worker: Worker) {
    this.started = new Promise((resolve) => {
      this.#onStarted = resolve;
    });
    this.ended = new Promise((resolve) => worker.process.once('close', () => resolve()));
    worker.on('message', (message: unknown) => {
      if (isMemberMessage(message)) this.#hear(message);
    });
    // A message to a process that has just ended fails.
    worker.on('error', () => {});
    worker.once('exit', () => {
      this.state = 'ended';
      this.#onStarted(false);
    });
  }

  get pid(): number {
    return this.worker.process.pid ?? -1;
  }

  #hear(told: MemberMessage): void {
    this.silentLooks = 0;
    if (told.tell === 'answer') {
      this.#waiting.get(told.id)?.(told.value);
      this.#waiting.delete(told.id);
    } else if (told.tell === 'last') {
      this.metrics = told.metrics;
    } else {
      if (this.state === 'starting') this.state = 'listening';
      this.listeningSinceMs = performance.now();
      this.address = { address: told.address, port: told.port };
      this.#onStarted(true);
    }
  }

  /** Null: no answer in time. */
  ask<A extends QuestionKind>(ask: A, ms: number): Promise<Answers[A] | null> {
    if (!this.worker.isConnected()) return Promise.resolve(null);
    this.#questions += 1;
    const id = this.#questions;
    const answered = new Promise<Answers[A]>((resolve) => {
      this.#waiting.set(id, (value) => resolve(value as Answers[A]));
    });
    this.worker.send({ ask, id });
    return withinMs(ms, answered, () => {
      this.#waiting.delete(id);
      return null;
    });
  }

  /** The process's counts, or the last known ones if it does not answer in time. */
  async readMetrics(ms: number): Promise<readonly MetricSnapshot[]> {
    const metrics = await this.ask('metrics', ms);
    if (metrics !== null) this.metrics = metrics;
    return this.metrics;
  }

  /** Like `close`, but tells the process that another one has taken its place, so that it has longer to finish. */
  async handOver(ms: number): Promise<void> {
    await this.ask('handOver', ASK_MS);
    await this.close(ms);
  }

  /**
   * Lets the process finish what is under way, and kills it after `ms`. A process that is already closing with the
   * longer time of a hand-over has only the time of a stop from now on.
   */
  async close(ms: number): Promise<void> {
    // A second signal would end the process at once.
    if (this.wasTold) void this.ask('hurry', ASK_MS);
    else this.worker.process.kill('SIGTERM');
    this.wasTold = true;
    if (this.state !== 'ended') this.state = 'closing';
    const cutOff = setTimeout(() => this.worker.process.kill('SIGKILL'), ms);
    await this.ended;
    clearTimeout(cutOff);
  }
}
