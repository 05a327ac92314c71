/** As node-postgres takes it. */
export interface Statement {
  /** Prepared once per connection under this name. */
  readonly name?: string;
  readonly text: string;
  readonly values: readonly unknown[];
}
