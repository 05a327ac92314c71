/**
 * A vitest pool with one thread that is reused from run to run. Stryker runs vitest once per mutant. A new thread would
 * load its dependencies again each time, which takes longer than most tests. The modules of this tree are evaluated
 * again in every run (`isolate`), so that a mutant in code that runs at load also takes effect.
 */
import { type PoolOptions, ThreadsPoolWorker, type Vite, type Vitest, type WorkerRequest } from 'vitest/node';

type Listener = Parameters<ThreadsPoolWorker['on']>;

let thread: ThreadsPoolWorker | null = null;

class KeptWorker {
  readonly name = 'kept';
  readonly #thread: ThreadsPoolWorker;
  readonly #listeners: Listener[] = [];

  constructor(options: PoolOptions) {
    thread ??= new ThreadsPoolWorker(options);
    this.#thread = thread;
  }

  on(...listener: Listener): void {
    this.#listeners.push(listener);
    this.#thread.on(...listener);
  }

  off(...listener: Listener): void {
    this.#thread.off(...listener);
  }

  /** Sends a request to the thread. A request to stop is answered here as if the thread had stopped. */
  send(message: WorkerRequest): void {
    if (message.type !== 'stop') this.#thread.send(message);
    else
      for (const [event, callback] of this.#listeners)
        if (event === 'message') callback({ type: 'stopped', __vitest_worker_response__: true });
  }

  start = (): Promise<void> => this.#thread.start();

  async stop(): Promise<void> {
    for (const listener of this.#listeners) this.#thread.off(...listener);
  }

  deserialize = (data: unknown): unknown => data;
}

/**
 * A mutant that breaks a module at load leaves a suite without tests, in which Stryker would see no failure. So the
 * suite gets one failed test.
 */
function failUnloaded(state: Vitest['state']): void {
  const getFiles = state.getFiles.bind(state);
  state.getFiles = (...args) => {
    const files = getFiles(...args);
    for (const file of files) {
      if (file.result?.state !== 'fail' || file.tasks.length > 0) continue;
      const about = { type: 'test', mode: 'run', name: 'loads', meta: {}, annotations: [], artifacts: [] };
      file.tasks.push({ ...about, file, result: file.result } as unknown as (typeof file.tasks)[number]);
    }
    return files;
  };
}

/** For the project's `plugins`: Stryker sets the pool itself, so a setting would be overridden. */
export const keptWorker: Vite.Plugin = {
  name: 'kept-worker',
  configureVitest({ project, vitest }) {
    failUnloaded(vitest.state);
    Object.assign(project.config, {
      pool: 'kept',
      poolRunner: { name: 'kept', createPoolWorker: (options: PoolOptions) => new KeptWorker(options) },
    });
  },
};
