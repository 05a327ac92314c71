/**
 * Every check of this page, in a thread of its own: where a signature takes a tenth of a second, the page stays usable.
 */
import type { Checkpoint, Restore } from '../shared/wire.ts';
import { checkDay, readService, type Service } from './check-day.ts';
import { checkInclusion } from './check-inclusion.ts';
import { checkRestore } from './check-restore.ts';

/** Documents read so far: the service's own and the example's. */
const read = new Map<string, Service>();
const serviceOf = (document: string): Service => {
  const service = read.get(document) ?? readService(document);
  read.set(document, service);
  return service;
};

const CHECKS = {
  /** @throws Error where the text is not a DID document */
  document: (text: string) => serviceOf(text).did,
  day: (document: string, shown: Checkpoint, previous: Checkpoint | null, attestation?: string) =>
    checkDay(shown, previous, serviceOf(document), attestation),
  restore: (document: string, shown: Restore) => checkRestore(shown, serviceOf(document)),
  inclusion: checkInclusion,
};

export type Checks = typeof CHECKS;
export interface Question {
  readonly id: number;
  readonly name: keyof Checks;
  readonly parameters: readonly unknown[];
}
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly problem: string };

const answer = ({ id, name, parameters }: Question): Answer => {
  try {
    const check = CHECKS[name] as (...all: readonly unknown[]) => unknown;
    return { id, value: check(...parameters) };
  } catch (error) {
    return { id, problem: (error as Error).message };
  }
};

self.addEventListener('message', ({ data }: MessageEvent<Question>) => self.postMessage(answer(data)));
