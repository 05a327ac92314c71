/** P17: some surviving Capability has only constraints that the profile can enforce. */
import type { Capability } from '../model/capability.ts';
import type { Profile } from '../profiles/profile.ts';
import { defineCheck, narrow } from './check.ts';
import { type ExplainedPerCapability, one, shown } from './explained.ts';
import { p16ActionAuthorized } from './p16-action-authorized.ts';

export const p17ConstraintsKnown = /* @__PURE__ */ defineCheck({
  id: 'P17',
  title: "some survivor has only constraint keys that the relying party's profile knows",
  cites: ['interface §Capability', 'interface §Versioning', 'protocol §2'],
  requires: [p16ActionAuthorized],
  reasons: ['UNKNOWN_CONSTRAINT'],
  run: ({ P16 }, { profile }) =>
    narrow(P16, (capability) => unknownConstraintsOf(capability, profile).length === 0, 'UNKNOWN_CONSTRAINT'),
});

export const p17Explained: ExplainedPerCapability = {
  judge:
    (_, { profile }) =>
    (capability) => {
      const { action, constraints } = capability;
      return {
        holds: unknownConstraintsOf(capability, profile).length === 0,
        compared: one(
          'constraints',
          Object.keys(constraints),
          `none but ${shown(profile.constraintKeys[action])}`,
        ),
      };
    },
};

/** The constraint keys that this profile does not know. */
export const unknownConstraintsOf = ({ action, constraints }: Capability, profile: Profile): string[] =>
  Object.keys(constraints).filter((key) => !profile.constraintKeys[action].includes(key));
