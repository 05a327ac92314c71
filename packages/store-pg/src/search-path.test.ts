/**
 * The functions of the schema find the objects that they name in `public`: under pg_restore, whose search_path is
 * empty, and in a session with tables of its own in front. Functions without a pinned path are inlined, or called only
 * by the commit, which has one (0005-roles/03-search-path).
 */

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Store } from '@svc/service';
import { withDatabase } from '@svc/testkit';
import { openStore } from '@svc/testkit/store/open-store';
import { runSql, withSession } from '@svc/testkit/store/session';
import { allowCommit, createWorld, insertGrant, type World } from '@svc/testkit/store/world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commitStatement } from './verify/commit-parameters.ts';

const database = withDatabase();
let store: Store;
let world: World;

beforeAll(async () => {
  store = openStore(database.url);
  world = await createWorld(store);
});
afterAll(() => store?.close());

/** Not pinned, so that they can be inlined; they name none of our objects. */
const INLINED = [
  'svc_day_number',
  'svc_instant',
  'svc_is_dated_by_id',
  'svc_is_within',
  'svc_ms',
  'svc_now',
  'svc_verification_state',
];

const listUnpinned = async (): Promise<string[]> =>
  (
    await runSql<{ name: string }>(
      database.url,
      `select proname as name from pg_proc
       where pronamespace = 'public'::regnamespace and not coalesce(proconfig::text like '%search_path=public, pg_temp%', false)
       order by proname`,
    )
  ).map(({ name }) => name);

const sources = fileURLToPath(new URL('.', import.meta.url));
const statementsOfTheService = readdirSync(sources, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts') && !/\.(test|generated)\.ts$/.test(file))
  .map((file) => readFileSync(`${sources}${file}`, 'utf8'))
  .join('\n');

describe('every function of the schema', () => {
  it('has a pinned search_path, or is used by no statement of the service and by no trigger', async () => {
    const triggers = await runSql<{ name: string }>(
      database.url,
      'select distinct p.proname as name from pg_trigger t join pg_proc p on p.oid = t.tgfoid',
    );
    const called = new Set(triggers.map(({ name }) => name));
    const reached = (await listUnpinned())
      .filter((name) => !INLINED.includes(name))
      .filter((name) => called.has(name) || new RegExp(`\\b${name}\\b`).test(statementsOfTheService));
    expect(reached).toEqual([]);
  });

  it('has a pinned search_path, is inlined, or is called only by the commit', async () => {
    const commit = await listUnpinned();
    const callers = await runSql<{ name: string; source: string }>(
      database.url,
      `select proname as name, prosrc as source from pg_proc
       where pronamespace = 'public'::regnamespace and proname not in ('svc_commit_decisions', 'svc_lock_balances')`,
    );
    const elsewhere = callers
      .filter(({ name }) => !commit.includes(name))
      .flatMap(({ name, source }) =>
        commit
          .filter((one) => !INLINED.includes(one) && new RegExp(`\\b${one}\\b`).test(source))
          .map((one) => `${name} calls ${one}`),
      );
    expect(elsewhere).toEqual([]);
  });
});

describe('a session with its own tables first in search_path', () => {
  it("commits against the service's tables: a revoked Grant is STALE", async () => {
    const grant = await insertGrant(world);
    const commit = allowCommit(world, grant);
    await runSql(
      database.url,
      'update grants set revocation_recorded_at = svc_now(), revoked_at = svc_now() where id = $1',
      [grant.id],
    );
    const outcomes = await withSession(database.url, async (session) => {
      await session.query('create temp table grants (like public.grants)');
      await session.query('insert into pg_temp.grants select * from public.grants');
      await session.query('update pg_temp.grants set revocation_recorded_at = null, revoked_at = null');
      const { rows } = await session.query<{ outcomes: string[] }>(commitStatement([commit]));
      return rows[0]?.outcomes;
    });
    expect(outcomes).toEqual(['STALE']);
  });
});

describe('with an empty search_path, as under pg_restore,', () => {
  it('the seal of the ledger is computed', async () => {
    const sealed = await withSession(database.url, async (session) => {
      await session.query(`set search_path = ''`);
      await session.query('update public.ledger_seal set sealed_until = sealed_until');
      const { rows } = await session.query<{ sealed: string }>(
        'select sealed_before as sealed from public.ledger_seal',
      );
      return rows[0]?.sealed;
    });
    expect(sealed).toMatch(/^drc_/);
  });
});
