/**
 * Several API processes behind one port, one for each core (`SVC_PROCESSES`). Each is a node in every sense: its own
 * connections, limits, fence and clock. The supervisor holds the port and hands connections round; it sees no request
 * and holds no key.
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

/** Storage is asked for 0.8 s at most. */
const ANSWER_MS = 950;
/** Above the drain deadline of a process (10 s) and the closing of its storage. */
const CLOSE_MS = 15_000;
/** How long a process that was replaced has to finish the exports that it has begun. Above its drain deadline of two minutes. */
const HAND_OVER_MS = 125_000;
/**
 * A process that replaces another is asked whether it decides this often, and this many times (30 s), before the other
 * ends.
 */
const READY_EVERY_MS = 250;
const READY_LOOKS = 120;
/** A process that ends after this time has not failed at its start. */
const SETTLED_MS = 10_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 30_000;
const WATCH_EVERY_MS = 1_000;
/**
 * Looks without an answer after which a process is stuck, since it still gets its share of connections. Counted in
 * looks, not in time: a supervisor that was frozen together with its machine must not take all processes for stuck
 * when it wakes.
 */
const STUCK_LOOKS = 30;
/** The same of a process that does not listen yet: it may have a machine under load to load its code on. */
const STUCK_START_LOOKS = 120;
/** Number of processes that have ended whose counts are kept apart before they are added up. */
const FORMER_APART = 16;

export interface FleetOptions {
  /** Number of processes. */
  readonly count: number;
  readonly logger: Logger;
  /** Hears whole lines of their output. */
  readonly onOutput: (lines: string) => void;
  /** Between two looks at whether each of them answers; default 1 s. */
  readonly watchEveryMs?: number;
  /** Looks without an answer after which one that does not listen yet is stuck; default 120. */
  readonly startLooks?: number;
}

export class Fleet {
  readonly #members = new Set<MemberProcess>();
  readonly #own = new Registry();
  readonly #metrics: SupervisorMetrics;
  #former: (readonly MetricSnapshot[])[] = [];
  /** Deaths in a row of processes that had not settled. */
  #failures = 0;
  #replacing: NodeJS.Timeout | undefined;
  /** A process ended because its token refused the PIN: none is started before a SIGHUP. */
  #mustNotStart = false;
  #isClosing = false;
  #restarting: Promise<void> | null = null;
  #isRestartWanted = false;
  #watch: NodeJS.Timeout | undefined;
  #hasStarted = false;

  constructor(private readonly options: FleetOptions) {
    cluster.schedulingPolicy = cluster.SCHED_RR;
    // Not as JSON, which has no infinity: a replica that never was in step would be told as one that is.
    cluster.setupPrimary({ silent: true, serialization: 'advanced' });
    this.#metrics = createSupervisorMetrics(this.#own, options.count, () => this.#listening().length);
  }

  /** Resolves with where they listen. Rejects, with all of them ended, when one ends before: it has said why. */
  async start(): Promise<{ readonly address: string; readonly port: number }> {
    const everyMs = this.options.watchEveryMs ?? WATCH_EVERY_MS;
    this.#watch = setInterval(() => this.#findStuck(everyMs), everyMs).unref();
    // One alone at first: a token counts each wrong PIN.
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
    // One that was lost while the others were started.
    this.#replace();
    return members[0]?.address ?? { address: '', port: 0 };
  }

  /** Replaces all processes in turn, each by one that listens before the old one stops. Never rejects. */
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

  /** Ready, and serving, while at least one process listens, and each that does is. */
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

  /** Prometheus text, of all of them together. */
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

  /** One at a time, further apart the more of them have ended at once. */
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
      // Others may have ended meanwhile; a second gathering of the same ones changes nothing.
      if (this.#former[0] === gathered[0]) this.#former = [sum, ...this.#former.slice(gathered.length)];
    });
  }

  async #restartWhileWanted(): Promise<void> {
    while (this.#isRestartWanted && !this.#isClosing) {
      this.#isRestartWanted = false;
      this.#mustNotStart = false;
      for (const old of this.#listening()) {
        // One that died meanwhile is replaced anyway.
        if (old.state !== 'listening') continue;
        const next = this.#fork();
        if (!(await next.started) || !(await this.#isAsReady(next, old))) {
          // What was configured since is of no use: those at work go on.
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

  /** Whether it decides, or the other one does not either: what keeps both from it would keep the restart waiting. */
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
      // It takes some looks until it is gone.
      if (member.silentLooks === looks + 1)
        this.options.logger.error({ processId: member.pid }, 'process.stuck');
      member.worker.process.kill('SIGKILL');
    }
  }
}

/** The rest of a line that has not ended when the stream does is a line too. */
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
