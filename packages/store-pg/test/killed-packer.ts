/** A packer whose every statement and request a test observes, and can fail. */
import type { PackDaysDeps } from '@svc/cold-ledger';

export class Killed extends Error {}

/** Passes every statement and request of a packer to `at`, with its name. After a kill none is passed any more. */
export const through = (
  deps: PackDaysDeps,
  at: <T>(what: string, work: () => Promise<T>) => Promise<T>,
): PackDaysDeps => {
  const each = <O extends object>(target: O, kind: string): O =>
    new Proxy(target, {
      get: (on, name) => {
        const method = Reflect.get(on, name);
        if (typeof method !== 'function') return method;
        return (...args: unknown[]) => at(`${kind} ${String(name)}`, () => method.apply(on, args));
      },
    });
  async function* batches<T>(from: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = from[Symbol.asyncIterator]();
    for (;;) {
      const { done, value } = await at('rows', () => iterator.next());
      if (done) return;
      yield value;
    }
  }
  return {
    ...deps,
    store: {
      coldDays: each(deps.store.coldDays, 'store'),
      checkpoints: each(deps.store.checkpoints, 'store'),
    },
    objects: each(deps.objects, 'objects'),
    readDayRows: (day, work, from) =>
      deps.readDayRows(
        day,
        (rows) =>
          work({
            receipts: () => batches(rows.receipts()),
            attestations: () => batches(rows.attestations()),
            consumptionEvents: () => batches(rows.consumptionEvents()),
          }),
        from,
      ),
  };
};
