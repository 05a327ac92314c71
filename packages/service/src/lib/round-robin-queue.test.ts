import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RoundRobinQueue } from './round-robin-queue.ts';

const WAITING = 32_768;

/**
 * A simple model of the queue, without regard to cost: the items of each path, and when each branch had its last turn.
 */
class PlainLine {
  #items: { readonly path: readonly string[]; readonly item: number }[] = [];
  #turns = new Map<string, number>();
  #clock = 0;

  add(path: readonly string[], item: number) {
    for (let depth = 1; depth <= path.length; depth++) {
      const branch = path.slice(0, depth).join('/');
      const isNew = !this.#items.some((one) => one.path.slice(0, depth).join('/') === branch);
      if (isNew) this.#turns.set(branch, ++this.#clock);
    }
    this.#items.push({ path, item });
  }

  take(): number | undefined {
    let left = this.#items;
    const path: string[] = [];
    while (left.length > 0 && path.length < 2) {
      const steps = [...new Set(left.map((one) => one.path[path.length] ?? ''))];
      const turnOf = (step: string) => this.#turns.get([...path, step].join('/')) ?? 0;
      const [first = ''] = steps.sort((one, other) => turnOf(one) - turnOf(other));
      path.push(first);
      left = left.filter((one) => path.every((step, i) => one.path[i] === step));
      this.#turns.set(path.join('/'), ++this.#clock);
    }
    const [taken] = left;
    this.#items = this.#items.filter((one) => one !== taken);
    return taken?.item;
  }

  delete(item: number) {
    this.#items = this.#items.filter((one) => one.item !== item);
  }
}

/** A path that is deleted and added again comes after those that were added meanwhile. */
const GIVEN_UP: ({ path: [string, string] } | 'take' | { deleted: number })[] = [
  { path: ['c', 'a'] },
  { deleted: 0 },
  { path: ['a', 'a'] },
  { path: ['c', 'a'] },
  'take',
];

describe('RoundRobinQueue', () => {
  it('gives the same turns as a simple model, for any order of additions, turns and deletions', () => {
    const step = fc.constantFrom('a', 'b', 'c');
    const event = fc.oneof(
      fc.record({ path: fc.tuple(step, step) }),
      fc.constant('take' as const),
      fc.record({ deleted: fc.nat(20) }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const [line, plain] = [new RoundRobinQueue<number>(), new PlainLine()];
        const paths = new Map<number, readonly string[]>();
        for (const [i, one] of events.entries()) {
          if (one === 'take') {
            const taken = line.take();
            expect(taken).toBe(plain.take());
            if (taken !== undefined) paths.delete(taken);
          } else if ('path' in one) {
            line.add(one.path, i);
            plain.add(one.path, i);
            paths.set(i, one.path);
          } else {
            const path = paths.get(one.deleted);
            expect(line.delete(path ?? ['a', 'a'], one.deleted)).toBe(path !== undefined);
            plain.delete(one.deleted);
            paths.delete(one.deleted);
          }
          expect(line.size).toBe(paths.size);
        }
      }),
      { examples: [[GIVEN_UP]] },
    );
  });

  it.each([1, 100, WAITING])(
    'with %i orgs and 32,768 waiting items looks at no more than four per turn',
    (orgs) => {
      const line = new RoundRobinQueue<number>();
      for (let i = 0; i < WAITING; i++) line.add(['tenants', `org ${i % orgs}`, 'subject'], i);
      let most = 0;
      while (line.size > 0) {
        const before = line.steps;
        line.take();
        most = Math.max(most, line.steps - before);
      }
      expect(most).toBeLessThanOrEqual(4);
    },
  );
});
