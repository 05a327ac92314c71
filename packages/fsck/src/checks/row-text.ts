/** Writes a row in one form, whether it is packed or in the database, so that any difference shows. */
import { COLUMNS_AS_READ, type TableName } from '@svc/cold-ledger';

/** SQL that selects a row of the database in that form. */
export const rowTextSql = (table: TableName): string =>
  `json_build_array(${COLUMNS_AS_READ[table]
    .map(([name, kind]) =>
      kind.startsWith('instant') ? `(extract(epoch from ${name}) * 1000000)::bigint::text` : `${name}::text`,
    )
    .join()})::text`;

/** The result of that SQL without PostgreSQL's blanks. */
export const withoutBlanks = (row: string): string => JSON.stringify(JSON.parse(row));

/** A packed row in that form. */
export const rowText = (table: TableName, row: object): string =>
  JSON.stringify(
    COLUMNS_AS_READ[table].map(([name]) => textOf((row as Readonly<Record<string, unknown>>)[name])),
  );

export const textOf = (value: unknown): string | null =>
  value === null || value === undefined ? null : String(value);
