/**
 * P1: the Grant is a well-formed credential of this profile (protocol §1, §2). The Grant in its evidence is
 * unauthenticated.
 */
import { defineCheck, deny, pass } from './check.ts';
import { type ExplanationOf, form, problemOf } from './explained.ts';

export const p01GrantWellFormed = /* @__PURE__ */ defineCheck({
  id: 'P1',
  title: 'the Grant is well formed and asks for nothing that this profile does not know',
  cites: ['interface §Grant', 'protocol §1', 'protocol §2', 'RFC 7515 §7.1', 'RFC 8259 §4'],
  requires: [],
  reasons: ['GRANT_MALFORMED', 'UNSUPPORTED_FEATURE'],
  run: (_, { presented: { grant }, profile }) => {
    if (profile.budgets && grant.budgetProblem !== null) return deny('GRANT_MALFORMED');
    return grant.ok ? pass({ grant: grant.value }) : deny(grant.reason);
  },
});

export const p01Explained: ExplanationOf<typeof p01GrantWellFormed> = {
  compare: (_, { presented: { grant }, profile }) =>
    form('Grant', (profile.budgets ? grant.budgetProblem : null) ?? problemOf(grant)),
};
