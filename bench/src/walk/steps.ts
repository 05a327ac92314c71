/** The steps of a walk. Each is timed; the first that fails ends the walk and prints its output. */
import { spawn, spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import type { Cleanup } from '../harness/cleanup.ts';

const DEADLINE_MS = 900_000;
const STOP_MS = 30_000;

export interface Step {
  readonly path: string;
  readonly what: string;
  readonly seconds: number;
}

export interface Running {
  /** All output up to the line that was waited for. */
  readonly output: string;
  stop(): Promise<void>;
}

interface Open {
  readonly until: (text: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

type Environment = Readonly<Record<string, string>>;

export class Steps {
  readonly taken: Step[] = [];

  constructor(
    private readonly env: Environment,
    private readonly cleanup: Cleanup,
  ) {}

  async time<Result>(path: string, what: string, act: () => Promise<Result> | Result): Promise<Result> {
    const began = performance.now();
    const result = await act();
    const step = { path, what, seconds: (performance.now() - began) / 1_000 };
    this.taken.push(step);
    console.error(`${step.path}: ${step.what}: ${step.seconds.toFixed(1)} s`);
    return result;
  }

  /**
   * Runs a command line and returns its output. Throws Error where its exit code is not `code`, or its output does not
   * contain `expected`.
   */
  run(line: string, cwd: string, { expected = '', code = 0, env = {} as Environment } = {}): string {
    const { status, stdout, stderr, error } = spawnSync('sh', ['-c', line], {
      cwd,
      env: { ...this.env, ...env },
      encoding: 'utf8',
      timeout: DEADLINE_MS,
      maxBuffer: 1e9,
    });
    const output = `${stdout}${stderr}`;
    if (status !== code || !output.includes(expected))
      throw new Error(`${line}\nended with ${status}${error ? ` (${error.message})` : ''}:\n${output}`);
    return output;
  }

  /**
   * Starts a program that keeps running; resolves once it has printed `ready`. It is ended with the walk at the latest.
   */
  async start(line: string, cwd: string, ready: string, env: Environment = {}): Promise<Running> {
    const { until, stop } = this.open(line, cwd, env);
    return { output: await until(ready), stop };
  }

  /**
   * Starts a program that keeps running. `until` resolves with all of its output once that contains `text`. It is ended
   * with the walk at the latest.
   */
  open(line: string, cwd: string, env: Environment = {}): Open {
    const child = spawn('sh', ['-c', `exec ${line}`], {
      cwd,
      env: { ...this.env, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    let output = '';
    const ended = once(child, 'close');
    const stop = async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const kill = (signal: NodeJS.Signals) => void process.kill(-(child.pid ?? 0), signal);
      kill('SIGTERM');
      const last = setTimeout(() => kill('SIGKILL'), STOP_MS);
      await ended;
      clearTimeout(last);
    };
    this.cleanup.add(stop);
    const hear = new EventEmitter();
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        output += part;
        hear.emit('heard');
      });
    const until = (text: string) =>
      new Promise<string>((resolve, reject) => {
        const fail = (why: string) => reject(new Error(`${line} ${why}:\n${output}`));
        const late = setTimeout(() => fail('took too long'), DEADLINE_MS);
        const look = () => {
          if (!output.includes(text)) return;
          clearTimeout(late);
          hear.off('heard', look);
          resolve(output);
        };
        hear.on('heard', look);
        look();
        ended.then(() => fail('has ended'));
      });
    return { until, stop };
  }
}
