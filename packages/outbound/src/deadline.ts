/**
 * One deadline over everything that a request waits for. What ignores the signal is left behind: its result is
 * dropped, and it still counts as under way until it ends.
 */
import { OutboundFault, unreachable } from './answers.ts';

export const withDeadline = async <T>(
  timeoutMs: number,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const controller = new AbortController();
  const fault = new OutboundFault(unreachable('deadline', `no complete answer within ${timeoutMs} ms`));
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      controller.abort(fault);
      reject(fault);
    }, timeoutMs);
  });
  const result = run(controller.signal);
  // When the deadline has answered already, a later failure has nobody to tell.
  result.catch(() => {});
  try {
    return await Promise.race([result, expired]);
  } finally {
    clearTimeout(timer);
  }
};
