import type { RouteId } from '@svc/contract';
import type { Handlers } from './handler.ts';

/** What is done before a handler, which is not called where this throws or rejects. */
export type Before<Input = unknown> = (input: Input) => void | Promise<void>;

/** The handlers, each behind what `beforeOf` answers for its route; null: as it is. */
export const wrapHandlers = <Input>(
  handlers: Handlers,
  beforeOf: (id: RouteId) => Before<Input> | null,
): Handlers => {
  const wrapped = Object.entries(handlers).map(([id, handle]) => {
    const before = beforeOf(id as RouteId);
    if (before === null) return [id, handle];
    const wrapper = async (input: Input) => {
      await before(input);
      return (handle as (input: Input) => unknown)(input);
    };
    return [id, wrapper];
  });
  // Each stands where the one that it wraps stood.
  return Object.fromEntries(wrapped) as Handlers;
};
