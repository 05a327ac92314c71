/**
 * Several API processes behind one port, one for each core (`SVC_PROCESSES`). Each process is a complete node with its
 * own connections, limits, fence and clock. The supervisor holds the port and distributes connections; it sees no
 * request and holds no key.
 */
import cluster from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import { MUST_NOT_RESTART, type Readiness } from '@svc/process';
import { RefusedPinError } from '@svc/service';
import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { addUp, addUpFormer, lasting } from './fleet-metrics.ts';
import { MemberProcess } from './member-process.ts';
import type { MetricSnapshot } from './messages.ts';
import { createSupervisorMetrics, type SupervisorMetrics } from './supervisor-metrics.ts';

/** Storage has at most 0.8 s to answer. */
const ANSWER_MS = 950;
/** More than the drain deadline of a process (10 s) and the closing of its storage. */
const CLOSE_MS = 15_000;
/** Time that a replaced process has to finish the exports it has begun. More than its drain deadline of two minutes. */
const HAND_OVER_MS = 125_000;
/**
 * Interval at which a new process is asked whether it decides, and the number of attempts (30 s in all), before the old
 * process is told to end.
 */
const READY_EVERY_MS = 250;
const READY_LOOKS = 120;
/** A process that ends after this time counts as started successfully. */
const SETTLED_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const WATCH_EVERY_MS = 1_000;
/**
 * Number of health checks without an answer after which a process counts as stuck. It still gets its share of
 * connections. Checks are counted, not time: a supervisor that was frozen together with its machine must not take all
 * processes for stuck when it resumes.
 */
const STUCK_LOOKS = 30;
/** The same for a process that does not listen yet: it may have to load its code on a machine under load. */
const STUCK_START_LOOKS = 120;
/** Number of ended processes whose counts are kept apart before they are added up. */
const FORMER_APART = 16;

export interface FleetOptions {
  /** Number of processes. */
  readonly count: number;
  readonly logger: Logger;
  /** Receives whole lines of the processes' output. */
  readonly onOutput: (lines: string) => void;
  /** Interval of the health checks; default 1 s. */
  readonly watchEveryMs?: number;
  /** Health checks without an answer after which a process that does not listen yet counts as stuck; default 120. */
  readonly startLooks?: number;
}

export class Fleet {
  readonly #members = new Set<MemberProcess>();
  readonly #own = new Registry();
  readonly #metrics: SupervisorMetrics;
  #former: (readonly MetricSnapshot[])[] = [];
  /** Number of processes in a row that ended soon after their start. */
  #failures = 0;
  #replacing: NodeJS.Timeout | undefined;
  /** A process ended because its token refused the PIN: no process is started before a SIGHUP. */
  #mustNotStart = false;
  #isClosing = false;
  #restarting: Promise<void> | null = null;
  #isRestartWanted = false;
  #watch: NodeJS.Timeout | undefined;
  #hasStarted = false;

  constructor(private readonly options: FleetOptions) {
    cluster.schedulingPolicy = cluster.SCHED_RR;
    // Not JSON, which cannot represent infinity: a replica that never was in step would be reported as one that is.
    cluster.setupPrimary({ silent: true, serialization: 'advanced' });
    this.#metrics = createSupervisorMetrics(this.#own, options.count, () => this.#listening().length);
  }

  /**
   * Resolves with the address they listen on. Rejects if a process ends before it listens, once all have ended; the
   * process has logged the reason.
   */
  async start(): Promise<{ readonly address: string; readonly port: number }> {
    const everyMs = this.options.watchEveryMs ?? WATCH_EVERY_MS;
    this.#watch = setInterval(() => this.#findStuck(everyMs), everyMs).unref();
    // Start a single process first, because a token counts each wrong PIN.
    const members = [this.#fork()];
    const isFirstWell = (await members[0]?.started) === true;
    while (isFirstWell && members.length < this.options.count) members.push(this.#fork());
    const listening = await Promise.all(members.map((member) => member.started));
    if (listening.includes(false)) {
      await this.close();
      await Promise.all(members.map(({ ended }) => ended));
      const cause = this.#mustNotStart ? new RefusedPinError('its token does not take the PIN') : undefined;
      throw new Error('a process ended at its start', { cause });
    }
    this.#hasStarted = true;
    // A process may have ended while the others were started.
    this.#replace();
    return members[0]?.address ?? { address: '', port: 0 };
  }

  /** Replaces all processes one by one; each new process listens before the old one stops. Never rejects. */
  async restart(): Promise<void> {
    this.#isRestartWanted = true;
    this.#restarting ??= this.#restartWhileWanted().finally(() => {
      this.#restarting = null;
    });
    await this.#restarting;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    clearTimeout(this.#replacing);
    clearInterval(this.#watch);
    await Promise.all([...this.#members].map((member) => member.close(CLOSE_MS)));
  }

  /** Ready, and serving, while at least one process listens and every process that listens is ready, or serving. */
  async readiness(): Promise<Readiness> {
    const told = await Promise.all(this.#listening().map((member) => member.ask('readiness', ANSWER_MS)));
    const ready = told.filter((one) => one !== null);
    const checks: Record<string, string> = {};
    for (const { checks: found } of ready)
      for (const [name, word] of Object.entries(found))
        if (checks[name] === undefined || checks[name] === 'ok') checks[name] = word;
    if (this.#isClosing) checks.http = 'draining';
    const { count } = this.options;
    checks.processes = ready.length >= count ? 'ok' : `${ready.length} of ${count} at work`;
    const isWell = ready.length > 0 && ready.length === told.length && !this.#isClosing;
    return {
      ok: isWell && ready.every(({ ok }) => ok),
      serves: isWell && ready.every(({ serves }) => serves),
      checks,
    };
  }

  /** Prometheus text of all processes together. */
  async metrics(): Promise<string> {
    const members = [...this.#members].filter(({ state }) => state !== 'starting');
    await Promise.all(members.map((member) => member.readMetrics(ANSWER_MS)));
    const own = (await this.#own.getMetricsAsJSON()) as unknown as readonly MetricSnapshot[];
    // A process that has ended meanwhile is counted in `#former`.
    const living = members.filter((member) => this.#members.has(member)).map(({ metrics }) => metrics);
    return addUp(living, this.#former, own).metrics();
  }

  get contentType() {
    return this.#own.contentType;
  }

  #listening(): readonly MemberProcess[] {
    return [...this.#members].filter(({ state }) => state === 'listening');
  }

  #fork(): MemberProcess {
    const worker = cluster.fork();
    const member = new MemberProcess(worker);
    this.#members.add(member);
    for (const stream of [worker.process.stdout, worker.process.stderr])
      forwardLines(stream, this.options.onOutput);
    worker.once('exit', (code: number | null, signal: string | null) => this.#lose(member, code, signal));
    return member;
  }

  #lose(member: MemberProcess, code: number | null, signal: string | null): void {
    this.#members.delete(member);
    this.#remember(lasting(member.metrics));
    const { pid, listeningSinceMs } = member;
    if (this.#isClosing) return;
    if (!member.wasTold) {
      this.#metrics.onDeath();
      const hasSettled = listeningSinceMs !== null && performance.now() - listeningSinceMs > SETTLED_MS;
      this.#failures = hasSettled ? 0 : this.#failures + 1;
      this.options.logger.error({ processId: pid, code, signal, pauseMs: this.#pauseMs() }, 'process.lost');
    }
    if (code === MUST_NOT_RESTART) {
      this.#mustNotStart = true;
      this.options.logger.error({ processId: pid }, 'process.must_not_restart');
    }
    this.#replace();
  }

  /** Replaces one process at a time; the more of them have ended in a row, the longer the pause. */
  #replace(): void {
    if (this.#isClosing || this.#mustNotStart || this.#replacing !== undefined || !this.#hasStarted) return;
    const working = [...this.#members].filter(({ state }) => state !== 'closing');
    if (working.length >= this.options.count) return;
    this.#replacing = setTimeout(async () => {
      if (this.#mustNotStart) {
        this.#replacing = undefined;
        return;
      }
      const member = this.#fork();
      const listens = await member.started;
      if (listens) this.options.logger.warn({ processId: member.pid }, 'process.replaced');
      this.#replacing = undefined;
      this.#replace();
    }, this.#pauseMs());
  }

  #pauseMs(): number {
    return this.#failures === 0 ? 0 : Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (this.#failures - 1));
  }

  #remember(counts: readonly MetricSnapshot[]): void {
    this.#former.push(counts);
    if (this.#former.length < FORMER_APART) return;
    const gathered = this.#former.slice();
    void addUpFormer(gathered).then((sum) => {
      // More processes may have ended meanwhile; a second sum of the same ones changes nothing.
      if (this.#former[0] === gathered[0]) this.#former = [sum, ...this.#former.slice(gathered.length)];
    });
  }

  async #restartWhileWanted(): Promise<void> {
    while (this.#isRestartWanted && !this.#isClosing) {
      this.#isRestartWanted = false;
      this.#mustNotStart = false;
      for (const old of this.#listening()) {
        // A process that ended meanwhile is replaced anyway.
        if (old.state !== 'listening') continue;
        const next = this.#fork();
        if (!(await next.started) || !(await this.#isAsReady(next, old))) {
          // A process cannot start with the new configuration, so the present processes go on.
          this.options.logger.error({ processId: old.pid }, 'process.not_replaced');
          await next.close(CLOSE_MS);
          break;
        }
        this.options.logger.info({ processId: old.pid, by: next.pid }, 'process.handed_over');
        await old.handOver(HAND_OVER_MS);
      }
    }
    this.#replace();
  }

  /**
   * Whether `next` decides, or `old` does not decide either. Otherwise a fault that affects both would block the
   * restart.
   */
  async #isAsReady(next: MemberProcess, old: MemberProcess): Promise<boolean> {
    for (let looks = 0; looks < READY_LOOKS && next.state === 'listening'; looks++) {
      const [found, before] = await Promise.all(
        [next, old].map((member) => member.ask('readiness', ANSWER_MS)),
      );
      const isOldOut = old.state !== 'listening' || before?.ok === false;
      if (found?.ok === true || (found !== null && isOldOut)) return true;
      await delay(READY_EVERY_MS);
    }
    return false;
  }

  #findStuck(everyMs: number): void {
    for (const member of this.#members) {
      if (member.state === 'closing') continue;
      const looks =
        member.state === 'starting' ? (this.options.startLooks ?? STUCK_START_LOOKS) : STUCK_LOOKS;
      member.silentLooks += 1;
      void member.ask('ping', looks * everyMs);
      if (member.silentLooks <= looks) continue;
      // Report it once; it takes some more checks until the process is gone.
      if (member.silentLooks === looks + 1)
        this.options.logger.error({ processId: member.pid }, 'process.stuck');
      member.worker.process.kill('SIGKILL');
    }
  }
}

/** Forwards whole lines. The unfinished last line of a stream that ends counts as a line. */
const forwardLines = (stream: NodeJS.ReadableStream | null, onOutput: (lines: string) => void): void => {
  let rest = '';
  stream?.setEncoding('utf8');
  stream?.on('data', (chunk: string) => {
    const end = chunk.lastIndexOf('\n') + 1;
    if (end > 0) onOutput(rest + chunk.slice(0, end));
    rest = end > 0 ? chunk.slice(end) : rest + chunk;
  });
  stream?.once('end', () => {
    if (rest !== '') onOutput(`${rest}\n`);
  });
};
