/**
 * Lists every object of a schema with its definition, from PostgreSQL's own catalog. Leaves out what does not change
 * behaviour (storage parameters, statistics targets, owners, comments) and what belongs to an extension. Partitions of
 * the ledger have the definition of the table, so only their deviations from it are listed.
 */

/** Runs a query; `text` has no parameters. */
export type QueryCatalog = <Row extends object>(text: string) => Promise<readonly Row[]>;

export interface CatalogObject {
  readonly kind: string;
  /** Name of the object; `table.part` for a part of a table. */
  readonly name: string;
  /** The table that the object is a part of, or null. */
  readonly table: string | null;
  readonly definition: string;
}

const OURS = `n.nspname = 'public'`;
/** Neither a partition, nor a former partition that has left the ledger and is to be dropped. */
const OF_NO_DAY = `not c.relispartition and c.relname !~ '^detached_receipts_\\d{8}$'`;
const NO_EXTENSION = (oid: string, catalog: string) =>
  `not exists (select from pg_depend e where e.classid = '${catalog}'::regclass and e.objid = ${oid} and e.deptype = 'e')`;

const RELATIONS = `
  select case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
      when 'f' then 'foreign table' else 'table' end as kind,
    c.relname as name, null as "table",
    concat_ws(' ', c.relkind, c.relpersistence, pg_get_partkeydef(c.oid),
      case when c.relrowsecurity then 'row security' end, case when c.relforcerowsecurity then 'forced' end,
      case when c.relkind in ('v', 'm') then pg_get_viewdef(c.oid) end,
      (select string_agg('public may ' || a.privilege_type, ' ' order by a.privilege_type)
        from aclexplode(c.relacl) a where a.grantee = 0)) as definition
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where ${OURS} and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f') and ${OF_NO_DAY}
    and ${NO_EXTENSION('c.oid', 'pg_class')}`;

const COLUMNS = `
  select 'column', c.relname || '.' || a.attname, c.relname,
    concat_ws(' ', format_type(a.atttypid, a.atttypmod), case when l.collname <> 'default' then 'collate ' || l.collname end,
      case when a.attnotnull then 'not null' end, nullif(a.attidentity::text, ''), nullif(a.attgenerated::text, ''),
      'default ' || pg_get_expr(d.adbin, d.adrelid),
      (select string_agg('public may ' || g.privilege_type, ' ' order by g.privilege_type)
        from aclexplode(a.attacl) g where g.grantee = 0))
  from pg_attribute a join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
    left join pg_collation l on l.oid = a.attcollation
    left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where ${OURS} and c.relkind in ('r', 'p') and ${OF_NO_DAY} and a.attnum > 0 and not a.attisdropped
    and ${NO_EXTENSION('c.oid', 'pg_class')}`;

const TYPES = `
  select 'type', t.typname, null,
    case t.typtype
      when 'e' then (select 'enum ' || string_agg(e.enumlabel, ',' order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
      when 'd' then concat_ws(' ', 'domain', format_type(t.typbasetype, t.typtypmod),
        (select string_agg(pg_get_constraintdef(k.oid), ' ' order by k.conname) from pg_constraint k where k.contypid = t.oid))
      when 'c' then (select string_agg(concat_ws(' ', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum)
        from pg_attribute a where a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
      else t.typtype::text end
  from pg_type t join pg_namespace n on n.oid = t.typnamespace left join pg_class c on c.oid = t.typrelid
  where ${OURS} and t.typtype in ('c', 'd', 'e', 'r') and coalesce(c.relkind, 'c') = 'c'
    and ${NO_EXTENSION('t.oid', 'pg_type')}`;

// PostgreSQL 18 and later also list not-null constraints, which the column definitions contain already.
const CONSTRAINTS = `
  select 'constraint', c.relname || '.' || k.conname, c.relname, pg_get_constraintdef(k.oid)
  from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
  where ${OURS} and ${OF_NO_DAY} and k.contype in ('p', 'u', 'f', 'c', 'x')
    and ${NO_EXTENSION('c.oid', 'pg_class')}`;

const INDEXES = `
  select case when i.indisunique then 'unique index' else 'index' end, c.relname || '.' || x.relname, c.relname,
    regexp_replace(pg_get_indexdef(i.indexrelid), ' WITH \\([^)]*\\)', '') || case when i.indisvalid then '' else ' invalid' end
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
    join pg_namespace n on n.oid = c.relnamespace
  where ${OURS} and c.relkind in ('r', 'p') and ${OF_NO_DAY}
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid and k.contype in ('p', 'u', 'x'))
    and ${NO_EXTENSION('c.oid', 'pg_class')}`;

const FUNCTIONS = `
  select 'function', p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')', null,
    concat_ws(' ', p.prokind, l.lanname, p.provolatile, p.proparallel, p.proisstrict, p.prosecdef, p.proleakproof, p.proretset,
      pg_get_function_arguments(p.oid), pg_get_function_result(p.oid),
      (select string_agg(one, ' ' order by one) from unnest(p.proconfig) as setting (one)), coalesce(p.prosrc, ''))
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace join pg_language l on l.oid = p.prolang
  where ${OURS} and ${NO_EXTENSION('p.oid', 'pg_proc')}`;

const TRIGGERS = `
  select 'trigger', c.relname || '.' || t.tgname, c.relname, pg_get_triggerdef(t.oid) || ' ' || t.tgenabled::text
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where ${OURS} and ${OF_NO_DAY} and not t.tgisinternal
    and ${NO_EXTENSION('c.oid', 'pg_class')}`;

/** Disabled triggers of partitions and of foreign keys. */
const OFF = `
  select 'disabled trigger', c.relname || '.' || t.tgname, c.relname, t.tgenabled::text
  from pg_trigger t join pg_class c on c.oid = t.tgrelid join pg_namespace n on n.oid = c.relnamespace
  where ${OURS} and t.tgenabled <> 'O' and (not (${OF_NO_DAY}) or t.tgisinternal)`;

const RULES = `
  select 'rule', c.relname || '.' || r.rulename, c.relname, pg_get_ruledef(r.oid) || ' ' || r.ev_enabled::text
  from pg_rewrite r join pg_class c on c.oid = r.ev_class join pg_namespace n on n.oid = c.relnamespace
  where ${OURS} and r.rulename <> '_RETURN' and ${NO_EXTENSION('c.oid', 'pg_class')}`;

const POLICIES = `
  select 'policy', c.relname || '.' || p.polname, c.relname, concat_ws(' ', p.polcmd, p.polpermissive,
    pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
  from pg_policy p join pg_class c on c.oid = p.polrelid join pg_namespace n on n.oid = c.relnamespace
  where ${OURS}`;

/** Queries of the parent table also read the rows of a child table. */
const CHILDREN = `
  select 'child table', p.relname || '.' || c.relname, p.relname, 'inherits'
  from pg_inherits i join pg_class c on c.oid = i.inhrelid join pg_class p on p.oid = i.inhparent
    join pg_namespace n on n.oid = p.relnamespace
  where ${OURS} and c.relkind in ('r', 'p', 'f') and ${OF_NO_DAY}`;

const PARTS = [
  RELATIONS,
  COLUMNS,
  TYPES,
  CONSTRAINTS,
  INDEXES,
  FUNCTIONS,
  TRIGGERS,
  OFF,
  RULES,
  POLICIES,
  CHILDREN,
];

/** The search path determines how expressions spell the names in them. Set it in the transaction that queries. */
export const CATALOG_SEARCH_PATH = 'set local search_path = public';

export const listCatalog = (query: QueryCatalog): Promise<readonly CatalogObject[]> =>
  query<CatalogObject>(`${PARTS.join('\nunion all\n')}\norder by 1, 2`);
