/** Checks that every table, column, function, trigger and other object of the schema is as the migrations leave it. */
import { compareSchema } from '@svc/store-pg';
import type { Check } from '../check.ts';

export const schemaCheck: Check = {
  name: 'schema',
  promise:
    'every object of the schema is as its migrations made it, and none is there that could change what they do',
  countSql: 'select 1 as count',
  async run({ query, report, note, advance }) {
    const { state, newest, faults, added } = await compareSchema(query);
    if (state === 'ahead')
      note(
        `the schema was not compared: it is at ${newest}, which a later version knows. Run the fsck of that one`,
      );
    for (const { object, problem } of faults) report(object, problem);
    if (added.length > 0) note(`added to the schema, without harm: ${added.join(', ')}`);
    if (state === 'migrated') advance(1);
  },
};
