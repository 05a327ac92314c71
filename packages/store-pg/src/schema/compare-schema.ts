/**
 * Whether the schema of a database is the one that its migrations come to, object by object. A dump that was loaded in part, a
 * trigger that somebody dropped, a function that was edited: each decision would rest on it, and nothing else would tell.
 */
import { createHash } from 'node:crypto';
import { listMigrations } from '../migrations.ts';
import { type CatalogObject, listCatalog, type QueryCatalog } from './catalog.ts';
import { expectedSchema } from './expected-schema.generated.ts';

export interface SchemaDifference {
  /** `function svc_now()`, `trigger receipts.refuse_change`. */
  readonly object: string;
  readonly problem: 'is missing' | 'is not as migrated' | 'does not belong there';
}

export interface SchemaComparison {
  /**
   * `migrated`: it was compared. `ahead`: a later version has migrated it, and that version knows what it must be. `behind`:
   * migrations are missing. `never`: nothing has ever migrated it.
   */
  readonly state: 'migrated' | 'ahead' | 'behind' | 'never';
  /** Name of its newest migration; null where there is none. */
  readonly newest: string | null;
  /** Each can change what the service does. Empty unless `migrated`. */
  readonly faults: readonly SchemaDifference[];
  /** Added objects that change no meaning: an operator's index, a table of somebody else. */
  readonly added: readonly string[];
}

/** In a transaction with one snapshot and `CATALOG_SEARCH_PATH`. Reads the catalog alone, and may be any role. */
export const compareSchema = async (query: QueryCatalog): Promise<SchemaComparison> => {
  const newest = await findNewest(query);
  const state = stateOf(newest);
  if (state !== 'migrated') return { state, newest, faults: [], added: [] };
  return { state, newest, ...compare(await listCatalog(query)) };
};

/** As `expected-schema.generated.ts` has it: 64 bits of SHA-256 for each object. */
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

/** With its table it is lost too, and that is said once. */
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

/** On a table of ours: what refuses, alters or answers for its rows. A second function of one name may be called in its place. */
const canChangeMeaning = ({ kind, name, table, definition }: CatalogObject): boolean => {
  if (kind === 'function') return ownFunctions.has(name.slice(0, name.indexOf('(')));
  const isOfOurs = table !== null && (`table ${table}` in expectedSchema || kind === 'disabled trigger');
  if (!isOfOurs || kind === 'index') return false;
  return kind !== 'column' || (definition.includes(' not null') && !definition.includes(' default '));
};
