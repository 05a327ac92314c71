/** Writes a new migration: the next number, forward only. */
import { createFile, listFolder, readFile, requireForm } from './files.ts';

const FOLDER = 'packages/store-pg/src/migrations';

export const newMigration = (name: string): readonly string[] => {
  requireForm(name, /^[a-z]+(-[a-z0-9]+)*$/, 'lower-case words such as org-notes');
  const last = listFolder(FOLDER).at(-1) ?? '0000';
  const migration = `${String(Number(last.slice(0, 4)) + 1).padStart(4, '0')}-${name}`;
  const file = `${FOLDER}/${migration}/01-${name}.sql`;
  createFile(file, unwritten(file, last, runsFrom(last)));
  return [
    `${file}   what is added; the version before it must still run after it`,
    `packages/service/src/ports/${name}.ts   for a table: the record and its repository's interface; add it to store.ts`,
    `packages/store-pg/src/repositories/${name}.ts   the repository, and its test; add it to repositories.ts`,
    'npm run format, then `npx vitest run --project store-pg migrate.test schema.test -u`, twice: schema.sql and the digests',
    'packages/store-pg/src/released-migrations.test.ts   last, the hash of the formatted SQL: the test prints the line',
  ];
};

/** The version that the migration says must be the oldest to run beside it: its own name if it says none. */
const runsFrom = (migration: string): string => {
  const texts = listFolder(`${FOLDER}/${migration}`).map((file) =>
    readFile(`${FOLDER}/${migration}/${file}`),
  );
  return /^-- runs-from: (\S+)$/m.exec(texts.join('\n'))?.[1] ?? migration;
};

const unwritten = (file: string, last: string, from: string): string => `-- TODO: what it adds, and why.
-- TODO: if versions without this migration run beside it, because it only adds, the line of ${last}:
--   \`-- runs-from: ${from}\`
-- Without such a line, only versions that have this migration run on the migrated database.
-- Functions say \`set search_path = public, pg_temp\`.

do $$
begin
  raise exception '${file} is not written yet';
end;
$$;
`;
