/**
 * A pool of vitest with one thread that is kept from run to run. Stryker runs vitest once per mutant, and a new thread
 * would load its dependencies again each time, which takes longer than most of the tests. The modules of this tree are
 * evaluated anew in every run (`isolate`), so a mutant of what is evaluated at load is seen too.
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

  /** Sends a request to the thread; a request to stop is answered here, as if it had stopped. */
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
 * A mutant that breaks a module while it is loaded leaves a suite without tests, which Stryker would take for a suite in
 * which nothing failed: it is given a test that did.
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

/** For the project's `plugins`: Stryker names the pool itself, so a setting would be overruled. */
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
