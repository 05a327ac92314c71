/** Writes a new migration: the next number, forward only. */
import { createFile, listFolder, requireForm } from './files.ts';

const FOLDER = 'packages/store-pg/src/migrations';

export const newMigration = (name: string): readonly string[] => {
  requireForm(name, /^[a-z]+(-[a-z0-9]+)*$/, 'lower-case words such as org-notes');
  const last = Number(listFolder(FOLDER).at(-1)?.slice(0, 4) ?? 0);
  const migration = `${String(last + 1).padStart(4, '0')}-${name}`;
  const file = `${FOLDER}/${migration}/01-${name}.sql`;
  createFile(file, unwritten(migration));
  return [
    `${file}   what is added; the version before it must still run after it`,
    `packages/service/src/ports/<records>.ts and store.ts   the record and its repository's interface`,
    `packages/store-pg/src/repositories/<records>.ts and repositories.ts   the repository, and its test`,
    `npm run format, then the store-pg tests: they say when schema.sql is out of date`,
  ];
};

const unwritten = (migration: string): string => `-- TODO: what it adds, and why.
-- TODO: versions that run beside it, as a line \`-- runs-from: NAME OF THEIR NEWEST MIGRATION\`; without it, none that lacks it.
-- Functions say \`set search_path = public, pg_temp\`.

do $$
begin
  raise exception 'migration ${migration} is not written yet';
end;
$$;
`;
