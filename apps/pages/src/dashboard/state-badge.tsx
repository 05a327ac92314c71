/** The state of something, as a word and a colour. */
const TONES = {
  active: 'good',
  failing: 'warn',
  paused: 'warn',
  disabled: 'idle',
  revoked: 'bad',
} as const;

type State = keyof typeof TONES;

/** Null where the state is not known. */
export const StateBadge = ({ state }: { readonly state: State | null }) =>
  state === null ? null : <span class={`badge badge-${TONES[state]}`}>{state}</span>;
