/** What state something is in, in word and colour. */
const TONES = {
  active: 'good',
  failing: 'warn',
  paused: 'warn',
  disabled: 'idle',
  revoked: 'bad',
} as const;

type State = keyof typeof TONES;

/** Null: it is not known. */
export const StateBadge = ({ state }: { readonly state: State | null }) =>
  state === null ? null : <span class={`badge badge-${TONES[state]}`}>{state}</span>;
