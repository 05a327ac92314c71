/** The `where` of a list whose filters are all optional, with its parameters. */
export class Conditions {
  readonly values: unknown[] = [];
  readonly #texts: string[] = [];

  /** `text` names its parameter as `?`. Nothing is added for an undefined value. */
  add(text: string, value: unknown): this {
    if (value === undefined) return this;
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

  get text(): string {
    return this.#texts.length === 0 ? 'true' : this.#texts.join(' and ');
  }
}
