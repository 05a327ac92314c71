/** Pauses (protocol §9). SQL changes locks, versions and flags (migrations, `pauses`), whoever pauses. */
import type { PauseFilter, PauseOwners, PauseRecord, PauseRepository, PauseScope } from '@svc/service';
import { Conditions } from '../conditions.ts';
import { type Database, readValue, writeValue } from '../database.ts';

const columns = `scope, owner, subject, is_paused as "isPaused", reason, changed_at as "changedAtMs",
  visible_at as "visibleAtMs", seq,
  json_build_object('kind', actor_kind, 'did', actor_did, 'keyId', actor_key_id) as actor`;

/** `ledger`: runs long reads that decide nothing. */
export function pauseRepository(database: Database, ledger = database): PauseRepository {
  return {
    async set({ scope, owner, subject, isPaused, reason, actor }) {
      const values = [scope, owner, subject, isPaused, reason, JSON.stringify(actor)];
      const text = 'select svc_set_pause($1, $2, $3, $4, $5, $6) as value';
      return (await writeValue<boolean | null>(database, text, values)) ?? null;
    },
    async find({ scope, owner, subject }) {
      const rows = await database.read<PauseRecord>({
        text: `select ${columns} from pauses where owner = $1 and scope = $2 and subject = $3`,
        values: [owner, scope, subject],
      });
      return rows[0] ?? null;
    },
    async setVisible({ scope, owner, subject, changedAtMs }, visibleAtMs) {
      const [row] = await database.write<{ visibleAtMs: number }>({
        text: `update pauses set visible_at = coalesce(visible_at, svc_instant($5))
          where owner = $1 and scope = $2 and subject = $3 and svc_ms(changed_at) = $4
          returning visible_at as "visibleAtMs"`,
        values: [owner, scope, subject, changedAtMs, visibleAtMs],
      });
      return row?.visibleAtMs ?? null;
    },
    listUnstamped: (afterSeconds, limit) =>
      database.read<PauseRecord>({
        text: `select ${columns} from pauses
          where visible_at is null and changed_at <= svc_now() - make_interval(secs => $1)
          order by changed_at limit $2`,
        values: [afterSeconds, limit],
      }),
    list: (filter) => ledger.read<PauseRecord>(listStatement(filter)),
    async isAskerPaused(relyingParty) {
      const [row] = await database.read<{ isPaused: boolean }>({
        text: `select r.is_paused or s.is_paused as "isPaused"
          from relying_parties r cross join ledger_seal s where r.did = $1`,
        values: [relyingParty],
      });
      return row?.isPaused ?? false;
    },
    async findOwnerSince({ scope, owner }) {
      const text = 'select svc_pause_owner_since($1, $2) as value';
      return (await readValue<number | null>(database, text, [scope, owner])) ?? null;
    },
  };
}

const SCOPES: readonly PauseScope[] = ['grant', 'agent', 'principal', 'relying_party', 'org', 'service'];

/** The newest of each owner and scope. Only these are sorted together, however many an owner has. */
function listStatement({ owners, scope, beforeSeq, limit }: PauseFilter) {
  const where = new Conditions();
  where.require('is_paused').require('scope = asked.scope');
  where.add('seq < ?', beforeSeq);
  if (owners !== null) where.require('owner = asked.owner');
  const pairs = pairsOf(owners).filter((pair) => scope === undefined || pair.scope === scope);
  const asked = `unnest(${where.parameter(pairs.map((pair) => pair.owner))}::text[],
    ${where.parameter(pairs.map((pair) => pair.scope))}::text[]) as asked (owner, scope)`;
  const rows = where.parameter(limit);
  const text = `select ${columns} from (
      select p.* from ${asked} cross join lateral (
        select * from pauses where ${where.text} order by seq desc limit ${rows}
      ) as p
    ) as found order by seq desc limit ${rows}`;
  return { text, values: where.values };
}

/** What to look for; an owner that is null stands for any. */
const pairsOf = (
  owners: PauseOwners | null,
): readonly { readonly owner: string | null; readonly scope: PauseScope }[] => {
  if (owners === null) return SCOPES.map((scope) => ({ owner: null, scope }));
  const { principals, relyingParties, orgs } = owners;
  const each = (dids: readonly string[], ...scopes: PauseScope[]) =>
    dids.flatMap((owner) => scopes.map((scope) => ({ owner, scope })));
  return [
    ...each(principals, 'grant', 'agent', 'principal'),
    ...each(relyingParties, 'relying_party'),
    ...each(orgs, 'org'),
    ...each(['service'], 'service'),
  ];
};
