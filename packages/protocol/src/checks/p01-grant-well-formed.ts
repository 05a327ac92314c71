/** P1: the Grant is a well-formed credential of this profile (protocol §1, §2). */
import { defineCheck, deny, pass } from './check.ts';

export const p01GrantWellFormed = /* @__PURE__ */ defineCheck({
  id: 'P1',
  title: 'the Grant is well formed and asks for nothing that this profile does not know',
  requires: [],
  reasons: ['GRANT_MALFORMED', 'UNSUPPORTED_FEATURE'],
  run: (_, { presented: { grant }, profile }) => {
    if (profile.budgets && grant.budgetProblem !== null) return deny('GRANT_MALFORMED');
    return grant.ok ? pass({ grant: grant.value }) : deny(grant.reason);
  },
});
