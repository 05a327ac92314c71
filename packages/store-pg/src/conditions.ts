/** The `where` of a list whose filters are all optional, with its parameters. */
export class Conditions {
  readonly #texts: string[] = [];

  /** `values`: the statement's parameters so far; those of the conditions are appended. */
  constructor(readonly values: unknown[] = []) {}

  /** `text` has `?` in place of its parameter. Adds nothing for a value that is undefined or null. */
  add(text: string, value: unknown): this {
    if (value === undefined || value === null) return this;
    this.#texts.push(text.replace('?', this.parameter(value)));
    return this;
  }

  /** `text` has no parameter. */
  require(text: string): this {
    this.#texts.push(text);
    return this;
  }

  /** Adds a value and answers its name, `$n`. */
  parameter(value: unknown): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }

  get list(): readonly string[] {
    return this.#texts;
  }

  get text(): string {
    return this.#texts.length === 0 ? 'true' : this.#texts.join(' and ');
  }
}
