/**
 * All migrations in the order of their names. Each is a folder beside this file, whose SQL files run in the order of
 * their names. A bundled program has a copy of the folder beside itself. Forward only: a released migration never
 * changes.
 */
import { readdirSync, readFileSync } from 'node:fs';

export interface Migration {
  readonly name: string;
  readonly sql: string;
  /** Versions whose newest migration is this one or a later one run with the schema after this migration. */
  readonly runsFrom: string;
}

const folder = new URL('./migrations/', import.meta.url);

/** Throws when the folder is not there. */
export const listMigrations = (): Migration[] =>
  readdirSync(folder)
    .sort()
    .map((name) => migrationOf(name, readSql(new URL(`${name}/`, folder))));

/**
 * `runsFrom` is `-- runs-from: NAME` on a line of its own. Without that line only versions that have the migration run
 * with it.
 */
export const migrationOf = (name: string, sql: string): Migration => ({
  name,
  sql,
  runsFrom: /^-- runs-from: (\S+)$/m.exec(sql)?.[1] ?? name,
});

const readSql = (of: URL): string =>
  readdirSync(of)
    .sort()
    .map((file) => readFileSync(new URL(file, of), 'utf8'))
    .join('\n');
