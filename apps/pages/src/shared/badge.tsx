/** ALLOW or DENY, as a word and a colour. */
export const DecisionBadge = ({ decision }: { readonly decision: 'ALLOW' | 'DENY' }) => (
  <span class={`badge badge-${decision === 'ALLOW' ? 'good' : 'bad'}`}>{decision}</span>
);

/** The decision that something unproven claims: never in the colour of a decision. */
export const ClaimBadge = ({ decision }: { readonly decision: 'ALLOW' | 'DENY' }) => (
  <span class="badge badge-idle">claims {decision}</span>
);
