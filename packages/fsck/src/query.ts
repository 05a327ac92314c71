/** The database port of the checks. */
import type { ClientBase, QueryResultRow } from 'pg';

export type Query = <Row extends QueryResultRow>(text: string, values?: readonly unknown[]) => Promise<Row[]>;

export const queryOn =
  (client: ClientBase): Query =>
  async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) =>
    (await client.query<Row>(text, [...values])).rows;
