/**
 * Checks that every artifact has the hash under which it is served. The database computes the hashes, so the bytes are
 * not transferred.
 */
import { type Check, pages } from '../check.ts';

interface Row {
  readonly hash: string;
  readonly isRight: boolean;
}

const SQL = `
  select hash, hash = 'sha256:' || encode(sha256(body), 'hex') as "isRight"
  from evidence where hash > $1 order by hash limit $2`;

export const evidenceCheck: Check = {
  name: 'evidence',
  promise: 'every artifact has the hash that it is served under',
  countSql: 'select count(*) from evidence',
  async run(context) {
    for await (const rows of pages<Row>(context, SQL, ({ hash }) => hash)) {
      for (const { hash, isRight } of rows) if (!isRight) context.report(hash, 'its bytes have another hash');
      context.advance(rows.length);
    }
  },
};
