import { fileURLToPath } from 'node:url';
import { withDatabase } from '@svc/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { migrate } from './migrate.ts';
import { migrations } from './migrations/migrations.ts';
import { describeSchema } from './testing/describe-schema.ts';
import { runSql } from './testing/session.ts';

const database = withDatabase();
const emptyName = `empty_${process.pid}`;
const emptyUrl = () => Object.assign(new URL(database.url), { pathname: `/${emptyName}` }).href;

describe('migrate', () => {
  beforeAll(() => runSql(database.url, `create database ${emptyName} template template0`));
  afterAll(() => runSql(database.url, `drop database ${emptyName} with (force)`));

  it('runs once when several processes start on an empty database', async () => {
    await Promise.all(Array.from({ length: 4 }, () => migrate(emptyUrl())));
    const rows = await runSql(emptyUrl(), 'select name from knex_migrations order by id');
    expect(rows).toEqual(migrations.map(({ name }) => ({ name })));
  });

  it('refuses a database whose migrations had other texts, or none on record', async () => {
    await migrate(emptyUrl());
    const refused = { kind: 'refused', message: expect.stringContaining('made by another version') };
    const [kept] = await runSql<{ sha256: string }>(
      emptyUrl(),
      `update migration_texts t set sha256 = 'x' from migration_texts o where o.name = t.name and t.name = $1
       returning o.sha256`,
      [migrations[0]?.name],
    );
    await expect(migrate(emptyUrl())).rejects.toMatchObject(refused);
    await runSql(emptyUrl(), 'alter table migration_texts rename to elsewhere');
    await expect(migrate(emptyUrl())).rejects.toMatchObject(refused);
    await runSql(emptyUrl(), 'alter table elsewhere rename to migration_texts');
    await runSql(emptyUrl(), 'update migration_texts set sha256 = $1 where name = $2', [
      kept?.sha256,
      migrations[0]?.name,
    ]);
    await migrate(emptyUrl());
  });

  it('goes on after a migrator died with its mark left behind', async () => {
    await migrate(emptyUrl());
    await runSql(emptyUrl(), 'update knex_migrations_lock set is_locked = 1');
    await migrate(emptyUrl());
  });
});

it('says that a database cannot be reached, and why', async () => {
  const nowhere = Object.assign(new URL(database.url), { port: '1' }).href;
  await expect(migrate(nowhere)).rejects.toMatchObject({
    kind: 'unavailable',
    message: expect.stringContaining('ECONNREFUSED'),
  });
});

it('schema.sql shows the schema as migrated', async () => {
  const file = fileURLToPath(new URL('../schema.sql', import.meta.url));
  await expect(await describeSchema(database.url)).toMatchFileSnapshot(file);
});
