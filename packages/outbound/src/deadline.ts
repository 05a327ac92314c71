/**
 * One deadline over everything that a request waits for. What ignores the signal is left behind: its result is
 * dropped, and it still counts as under way until it ends.
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
