/** Sends checks to checks.worker.ts, which is started with the first of them. */
import { useEffect, useState } from 'preact/hooks';
import type { Part } from '../shared/part.ts';
import type { Answer, Checks, Question } from './checks.worker.ts';

interface Asker {
  readonly resolve: (value: never) => void;
  readonly reject: (error: Error) => void;
}

const askers = new Map<number, Asker>();
let worker: Worker | null = null;
let asked = 0;

const startWorker = (): Worker => {
  const started = new Worker(new URL('./checks.worker.ts', import.meta.url), { type: 'module' });
  started.addEventListener('message', ({ data }: MessageEvent<Answer>) => {
    const asker = askers.get(data.id);
    askers.delete(data.id);
    if ('problem' in data) asker?.reject(new Error(data.problem));
    else asker?.resolve(data.value as never);
  });
  // The worker's file could not be loaded.
  started.addEventListener('error', () => {
    for (const { reject } of askers.values())
      reject(new Error('What checks the signatures could not be loaded. Load the page again.'));
    askers.clear();
    worker = null;
  });
  return started;
};

/** Runs a check in the worker. Rejects where the check throws or the worker cannot be loaded. */
export const check = <Name extends keyof Checks>(
  name: Name,
  ...parameters: Parameters<Checks[Name]>
): Promise<ReturnType<Checks[Name]>> =>
  new Promise((resolve, reject) => {
    asked += 1;
    askers.set(asked, { resolve, reject });
    worker ??= startWorker();
    worker.postMessage({ id: asked, name, parameters } satisfies Question);
  });

/**
 * The parts that `ask` resolves with under the service's document; null until then, and while there is no document. A
 * rejection becomes a part that is wrong. Asks again when the document or `inputs` change.
 */
export const useParts = (
  document: string | null,
  ask: (document: string) => Promise<readonly Part[]>,
  inputs: readonly unknown[],
): readonly Part[] | null => {
  const [parts, setParts] = useState<readonly Part[] | null>(null);
  useEffect(() => {
    let isCurrent = true;
    const show = (next: readonly Part[]) => void (isCurrent && setParts(next));
    setParts(null);
    if (document === null) return;
    ask(document).then(show, ({ message }: Error) => show([notChecked(message)]));
    return () => {
      isCurrent = false;
    };
  }, [document, ...inputs]);
  return document === null ? null : parts;
};

/** Whether a key that signed is no longer in force, so that judging its signature takes the service's attestation. */
export const needsAttestation = (parts: readonly Part[]): boolean =>
  parts.some(({ failures }) => failures.some(({ code }) => code === 'key-not-in-force'));

const notChecked = (message: string): Part => ({
  ...{ id: 'check', name: 'Check', means: '', state: 'wrong' },
  failures: [{ code: 'not-checked', message }],
});
