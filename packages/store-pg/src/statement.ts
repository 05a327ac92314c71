/** A statement in the form that node-postgres takes. */
export interface Statement {
  /** Prepared once per connection under this name. */
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}
