import type { RouteId } from '@svc/contract';
import type { Handlers } from './handler.ts';

/** Runs before a handler. If it throws or rejects, the handler is not called. */
export type Before<Input = unknown> = (input: Input) => void | Promise<void>;

/** The handlers, each preceded by what `beforeOf` returns for its route; null: unchanged. */
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
  // Each wrapped handler has the key of the original.
  return Object.fromEntries(wrapped) as Handlers;
};
