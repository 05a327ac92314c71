/**
 * Compares the schema of a database with the result of its migrations, object by object. This finds a dump that was
 * loaded in part, a dropped trigger or an edited function. Each decision would depend on them, and nothing else would
 * show the difference.
 */
import { createHash } from 'node:crypto';
import { listMigrations } from '../migrations.ts';
import { type CatalogObject, listCatalog, type QueryCatalog } from './catalog.ts';
import { expectedSchema } from './expected-schema.generated.ts';

export interface SchemaDifference {
  /** For example `function svc_now()` or `trigger receipts.refuse_change`. */
  readonly object: string;
  readonly problem: 'is missing' | 'is not as migrated' | 'does not belong there';
}

export interface SchemaComparison {
  /**
   * `migrated`: it was compared. `ahead`: a later version migrated it, and only that version can compare it. `behind`:
   * migrations are missing. `never`: it was never migrated.
   */
  readonly state: 'migrated' | 'ahead' | 'behind' | 'never';
  /** Name of its newest migration; null where there is none. */
  readonly newest: string | null;
  /** Differences, each of which can change what the service does. Empty unless `migrated`. */
  readonly faults: readonly SchemaDifference[];
  /** Added objects that do not change what the service does: an operator's index, another application's table. */
  readonly added: readonly string[];
}

/**
 * Call it in a transaction with one snapshot and `CATALOG_SEARCH_PATH`. It reads only the catalog, and any role may run
 * it.
 */
export const compareSchema = async (query: QueryCatalog): Promise<SchemaComparison> => {
  const newest = await findNewest(query);
  const state = stateOf(newest);
  if (state !== 'migrated') return { state, newest, faults: [], added: [] };
  return { state, newest, ...compare(await listCatalog(query)) };
};

/** Digests in the form of `expected-schema.generated.ts`: 64 bits of SHA-256 for each object. */
export const digestsOf = (objects: readonly CatalogObject[]): Readonly<Record<string, string>> =>
  Object.fromEntries(
    objects.map((object) => [
      labelOf(object),
      createHash('sha256').update(object.definition).digest('hex').slice(0, 16),
    ]),
  );

const labelOf = ({ kind, name }: CatalogObject): string => `${kind} ${name}`;

const findNewest = async (query: QueryCatalog): Promise<string | null> => {
  const [found] = await query<{ hasRecord: boolean }>(
    `select to_regclass('public.migrations') is not null as "hasRecord"`,
  );
  if (found?.hasRecord !== true) return null;
  const [row] = await query<{ name: string }>(
    'select name from public.migrations order by name desc limit 1',
  );
  return row?.name ?? null;
};

const stateOf = (newest: string | null): SchemaComparison['state'] => {
  const ours = listMigrations().at(-1)?.name ?? '';
  if (newest === null) return 'never';
  return newest === ours ? 'migrated' : newest > ours ? 'ahead' : 'behind';
};

/** A part of a table. If the table is missing, its parts are missing too, and only the table is reported. */
const PART = /^(?:column|constraint|index|unique index|trigger) ([^.]+)\./;

const compare = (objects: readonly CatalogObject[]): Pick<SchemaComparison, 'faults' | 'added'> => {
  const found = digestsOf(objects);
  const isLost = (object: string) => {
    const table = PART.exec(object)?.[1];
    return table !== undefined && found[`table ${table}`] === undefined;
  };
  const faults: SchemaDifference[] = Object.entries(expectedSchema)
    .filter(([object, digest]) => found[object] !== digest && !isLost(object))
    .map(([object]) => ({ object, problem: object in found ? 'is not as migrated' : 'is missing' }));
  const others = objects.filter((object) => !(labelOf(object) in expectedSchema));
  const isHarmful = (object: CatalogObject) => canChangeMeaning(object);
  const extra = others
    .filter(isHarmful)
    .map((object) => ({ object: labelOf(object), problem: 'does not belong there' }) as const);
  return { faults: [...faults, ...extra], added: others.filter((object) => !isHarmful(object)).map(labelOf) };
};

const ownFunctions = new Set(
  Object.keys(expectedSchema).flatMap((object) => /^function ([^(]+)/.exec(object)?.[1] ?? []),
);

/**
 * An object on one of our tables can refuse, alter or answer for its rows. A second function with the name of one of
 * ours may be called in its place.
 */
const canChangeMeaning = ({ kind, name, table, definition }: CatalogObject): boolean => {
  if (kind === 'function') return ownFunctions.has(name.slice(0, name.indexOf('(')));
  const isOfOurs = table !== null && (`table ${table}` in expectedSchema || kind === 'disabled trigger');
  if (!isOfOurs || kind === 'index') return false;
  return kind !== 'column' || (definition.includes(' not null') && !definition.includes(' default '));
};
