/** A process of the fleet as the supervisor knows it: whether it listens, what it answers, what it counted last. */
import type { Worker } from 'node:cluster';
import { withinMs } from '@svc/service';
import {
  type Answers,
  isMemberMessage,
  type MemberMessage,
  type MetricSnapshot,
  type QuestionKind,
} from './messages.ts';

/** One that does not answer is told to end all the same. */
const ASK_MS = 1_000;

/** `starting` until it listens; `closing` from the moment it was told to end. */
export type MemberState = 'starting' | 'listening' | 'closing' | 'ended';

export class MemberProcess {
  state: MemberState = 'starting';
  /** Monotonic; null: it does not listen yet. */
  listeningSinceMs: number | null = null;
  /** It was told to end. */
  wasTold = false;
  /** Looks of the supervisor since it was last heard of. */
  silentLooks = 0;
  metrics: readonly MetricSnapshot[] = [];
  address: { readonly address: string; readonly port: number } | null = null;
  /** True: it listens. False: it has ended before. */
  readonly started: Promise<boolean>;
  /** Its output has been read to its end as well. */
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
    // A message to one that has just gone.
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

  /** Its counts now or, where it does not answer in time, those of the last time. */
  async readMetrics(ms: number): Promise<readonly MetricSnapshot[]> {
    const metrics = await this.ask('metrics', ms);
    if (metrics !== null) this.metrics = metrics;
    return this.metrics;
  }

  /** As `close`; it knows that another one has taken its place, and that it has time. */
  async handOver(ms: number): Promise<void> {
    await this.ask('handOver', ASK_MS);
    await this.close(ms);
  }

  /**
   * It finishes what is under way, and is cut off where that takes longer than `ms`. One that is closing already, with more time
   * as another has taken its place, has no more than at a stop from now on.
   */
  async close(ms: number): Promise<void> {
    // A second signal would end it at once.
    if (this.wasTold) void this.ask('hurry', ASK_MS);
    else this.worker.process.kill('SIGTERM');
    this.wasTold = true;
    if (this.state !== 'ended') this.state = 'closing';
    const cutOff = setTimeout(() => this.worker.process.kill('SIGKILL'), ms);
    await this.ended;
    clearTimeout(cutOff);
  }
}
