/** P15: the relying party's Action is well formed (protocol §5). */
import { defineCheck, deny, pass } from './check.ts';
import { type ExplanationOf, form, problemOf } from './explained.ts';

export const p15ActionWellFormed = /* @__PURE__ */ defineCheck({
  id: 'P15',
  title: 'the Action is well formed',
  cites: ['interface §Action', 'protocol §5'],
  requires: [],
  reasons: ['ACTION_MALFORMED'],
  run: (_, { presented: { action } }) =>
    action.ok ? pass({ action: action.value }) : deny('ACTION_MALFORMED'),
});

export const p15Explained: ExplanationOf<typeof p15ActionWellFormed> = {
  compare: (_, { presented: { action } }) => form('Action', problemOf(action)),
};
