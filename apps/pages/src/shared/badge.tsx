/** ALLOW or DENY, in word and colour. */
export const DecisionBadge = ({ decision }: { readonly decision: 'ALLOW' | 'DENY' }) => (
  <span class={`badge badge-${decision === 'ALLOW' ? 'good' : 'bad'}`}>{decision}</span>
);

/** What something unproven says: never in the colour of a decision. */
export const ClaimBadge = ({ decision }: { readonly decision: 'ALLOW' | 'DENY' }) => (
  <span class="badge badge-idle">claims {decision}</span>
);
