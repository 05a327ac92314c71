/**
 * `instanceof` for a class of which several packages contain a copy: an object with the mark is an instance of each
 * copy. `asked` is the class before which `instanceof` stands. A subclass of `own` keeps the default `instanceof`.
 */
export const isMarked = (asked: unknown, own: unknown, mark: symbol, value: unknown): boolean =>
  asked === own
    ? typeof value === 'object' && value !== null && mark in value
    : Function.prototype[Symbol.hasInstance].call(asked as object, value);
