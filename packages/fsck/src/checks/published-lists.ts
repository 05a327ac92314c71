/**
 * Checks that every status list credential that was published is kept as evidence, and that no bit set in one is clear
 * in a later one. This detects a list that was set back together with its Grants: later credentials contradict it.
 */
import { decodeBitstring } from '@svc/status-list';
import { type Check, type CheckContext, pages } from '../check.ts';
import { readOwnList } from '../own-list.ts';

interface Row {
  readonly hash: string;
  readonly body: Buffer;
}

const COUNT = `select count(*) from evidence where content_type = 'application/vc+jwt'`;

const SQL = `
  select hash, body from evidence
  where content_type = 'application/vc+jwt' and hash > $1 order by hash limit $2`;

export const publishedListCheck: Check = {
  name: 'published lists',
  promise: 'no revocation that was ever published has been taken back',
  countSql: COUNT,
  async run(context) {
    for await (const rows of pages<Row>(context, SQL, ({ hash }) => hash, 100)) {
      await checkCredentials(context, rows);
      context.advance(rows.length);
    }
  },
};

const checkCredentials = async (context: CheckContext, rows: readonly Row[]): Promise<void> => {
  const { keys, query, report } = context;
  const published = rows.flatMap(({ hash, body }) => {
    const list = readOwnList(keys, body.toString('latin1'));
    if (!('problem' in list)) return [{ hash, url: list.id, bits: list.credentialSubject.encodedList }];
    report(hash, `it ${list.problem}`);
    return [];
  });
  const current = await query<{ url: string; bits: Buffer | null }>(
    `select url, bits from status_lists where url = any ($1)
     union all select url, null from released_status_lists where url = any ($1)`,
    [[...new Set(published.map(({ url }) => url))]],
  );
  const bitsOf = new Map(current.map(({ url, bits }) => [url, bits]));
  for (const { hash, url, bits } of published) {
    const [before, now] = [decodeBitstring(bits), bitsOf.get(url)];
    if (now === undefined) report(url, `it was published (${hash}) and is gone`);
    // The list's Principal is recorded as released with all its Grants; rule `released lists` checks that.
    else if (now === null) continue;
    else if (before === null) report(hash, 'its bits cannot be read');
    else if (before.some((byte, i) => (byte & ~(now[i] ?? 0)) !== 0))
      report(url, `a revocation that it has published (${hash}) is taken back`);
  }
};
