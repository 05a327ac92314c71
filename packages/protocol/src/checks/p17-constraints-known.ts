/** P17: some surviving Capability is bound only by constraints that the profile can enforce. */
import { defineCheck, narrow } from './check.ts';
import { p16ActionAuthorized } from './p16-action-authorized.ts';

export const p17ConstraintsKnown = /* @__PURE__ */ defineCheck({
  id: 'P17',
  title: "some survivor has only constraint keys that the relying party's profile knows",
  cites: ['interface §Capability', 'interface §Versioning', 'protocol §2'],
  requires: [p16ActionAuthorized],
  reasons: ['UNKNOWN_CONSTRAINT'],
  run: ({ P16 }, { profile }) =>
    narrow(
      P16,
      ({ action, constraints }) =>
        Object.keys(constraints).every((key) => profile.constraintKeys[action].includes(key)),
      'UNKNOWN_CONSTRAINT',
    ),
});
