/**
 * Checks that every restore has a statement that the service signed, that each statement names the previous one, and
 * that its row agrees with it. Days that a statement names kept their checkpoints without all of their Receipts
 * (protocol §10).
 */
import { sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { type RestoreStatement, verifyRestoreStatement } from '@svc/transparency';
import { type Check, type CheckContext, differing } from '../check.ts';

interface Row {
  readonly epoch: number;
  readonly lostFrom: string;
  readonly lostUntil: string;
  readonly quarantinedUntil: string;
  readonly days: readonly string[];
  readonly statement: string;
}

const TIME = `'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
const utc = (column: string) => `to_char(${column} at time zone 'UTC', ${TIME})`;

const RESTORES = `
  select epoch, ${utc('lost_from')} as "lostFrom", ${utc('lost_until')} as "lostUntil",
    ${utc('quarantined_until')} as "quarantinedUntil", reinstated_days::text[] as days, statement
  from restores order by epoch`;

export const restoreCheck: Check = {
  name: 'restores',
  promise: 'every restore is stated by the service, and names the statement of the one before',
  countSql: 'select count(*) from restores',
  async run(context) {
    let previous: string | null = null;
    for (const row of await context.query<Row>(RESTORES)) {
      const said = readStatement(context, row);
      if (typeof said === 'string') context.report(`epoch ${row.epoch}`, said);
      else compare(context, row, said, previous);
      previous = sha256Of(nativeCrypto, row.statement);
      context.advance(1);
    }
  },
};

const readStatement = ({ keys }: CheckContext, { statement }: Row): RestoreStatement | string => {
  const verified = verifyRestoreStatement({
    statement,
    serviceDidDocument: keys.documentOf(statement),
    crypto: nativeCrypto,
  });
  return verified.ok ? verified.statement : verified.failures.map(({ message }) => message).join('; ');
};

const compare = (
  { report }: CheckContext,
  row: Row,
  said: RestoreStatement,
  previous: string | null,
): void => {
  const wrong = differing([
    ['epoch', row.epoch, said.epoch],
    ['lost_from', row.lostFrom, said.lost_from],
    ['lost_until', row.lostUntil, said.lost_until],
    ['quarantined_until', row.quarantinedUntil, said.quarantined_until],
    ['reinstated_days', row.days.join(), said.reinstated_days.join()],
    ['previous', previous, said.previous],
  ]);
  for (const [name, stored, signed] of wrong)
    report(`epoch ${row.epoch}`, `${name} is stored as ${stored}, and the statement says ${signed}`);
};

/** The days for which a statement of the service says that Receipts covered by their checkpoints are lost. */
export const listReinstatedDays = async (context: CheckContext): Promise<ReadonlySet<string>> => {
  const statements = (await context.query<Row>(RESTORES)).map((row) => readStatement(context, row));
  return new Set(statements.flatMap((said) => (typeof said === 'string' ? [] : said.reinstated_days)));
};
