/** The schema as text from PostgreSQL's own catalog: tables, types, constraints, indexes, triggers, functions. */
import { runSql } from './session.ts';

const tables = `
  select format('create table %s (%s)%s;', c.relname,
      (select string_agg(format(E'\\n  %s %s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
          case when l.collname = 'C' then ' collate "C"' else '' end,
          case when a.attnotnull then ' not null' else '' end,
          coalesce(case a.attgenerated
            when 's' then ' generated always as (' || pg_get_expr(d.adbin, d.adrelid) || ') stored'
            else ' default ' || pg_get_expr(d.adbin, d.adrelid) end, '')), ',' order by a.attnum)
       from pg_attribute a
       left join pg_collation l on l.oid = a.attcollation
       left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped) || E'\\n',
      case c.relkind when 'p' then ' partition by ' || pg_get_partkeydef(c.oid) else '' end) as text
  from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
  order by c.relname`;

const types = `
  select format('create type %s as (%s);', c.relname,
      string_agg(format(E'\\n  %s %s', a.attname, format_type(a.atttypid, a.atttypmod)), ',' order by a.attnum) || E'\\n') as text
  from pg_class c join pg_attribute a on a.attrelid = c.oid
  where c.relnamespace = 'public'::regnamespace and c.relkind = 'c' and a.attnum > 0 and not a.attisdropped
  group by c.relname
  order by c.relname`;

// Not-null constraints are part of the columns; PostgreSQL 18 and later list them here too.
const constraints = `
  select format('alter table %s add constraint %s %s;', c.relname, k.conname, pg_get_constraintdef(k.oid)) as text
  from pg_constraint k join pg_class c on c.oid = k.conrelid
  where c.relnamespace = 'public'::regnamespace and not c.relispartition
    and k.contype in ('p', 'u', 'f', 'c')
  order by c.relname, k.conname`;

const indexes = `
  select pg_get_indexdef(i.indexrelid) || ';' as text
  from pg_index i join pg_class c on c.oid = i.indrelid join pg_class x on x.oid = i.indexrelid
  where c.relnamespace = 'public'::regnamespace and not c.relispartition
    and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
  order by c.relname, x.relname`;

const triggers = `
  select pg_get_triggerdef(t.oid) || ';' as text
  from pg_trigger t join pg_class c on c.oid = t.tgrelid
  where c.relnamespace = 'public'::regnamespace and not c.relispartition and not t.tgisinternal
  order by c.relname, t.tgname`;

const functions = `
  select rtrim(pg_get_functiondef(p.oid), E'\\n') || ';' as text
  from pg_proc p where p.pronamespace = 'public'::regnamespace
  order by p.proname`;

export async function describeSchema(url: string): Promise<string> {
  const parts: string[] = [
    '-- Generated from a migrated database; `npx vitest run --project store-pg -u` renews it.',
  ];
  for (const query of [tables, types, constraints, indexes, triggers, functions]) {
    const rows = await runSql<{ text: string }>(url, query);
    parts.push(rows.map(({ text }) => text).join('\n'));
  }
  return `${parts.join('\n\n')}\n`;
}

const VALUES: Readonly<Record<string, string>> = {
  text: 'string',
  integer: 'number',
  bigint: 'number',
  boolean: 'boolean',
};

/** The type of a decision in the call of the commit, as TypeScript: an interface, and the order of its fields. */
export async function describeDecisionType(url: string): Promise<string> {
  const fields = await runSql<{ name: string; type: string }>(
    url,
    `select attname as name, format_type(atttypid, atttypmod) as type from pg_attribute
     where attrelid = 'svc_decision'::regclass and attnum > 0 and not attisdropped order by attnum`,
  );
  return [
    '// Generated from a migrated database; `npx vitest run --project store-pg -u` renews it.',
    '',
    'export interface SvcDecision {',
    ...fields.map(({ name, type }) => `  readonly ${name}: ${VALUES[type] ?? 'never'} | null;`),
    '}',
    '',
    'export const svcDecisionFields = [',
    ...fields.map(({ name }) => `  '${name}',`),
    '] as const satisfies readonly (keyof SvcDecision)[];',
    '',
  ].join('\n');
}
