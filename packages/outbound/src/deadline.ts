/**
 * One deadline for everything that a request waits for. Work that ignores the signal is abandoned: its result is
 * dropped, and it counts as under way until it ends.
 */
import { withinMs } from '@svc/service';
import { OutboundFault, unreachable } from './answers.ts';

export const withDeadline = <T>(timeoutMs: number, run: (signal: AbortSignal) => Promise<T>): Promise<T> => {
  const controller = new AbortController();
  return withinMs(timeoutMs, run(controller.signal), () => {
    const fault = new OutboundFault(unreachable('deadline', `no complete answer within ${timeoutMs} ms`));
    controller.abort(fault);
    throw fault;
  });
};
