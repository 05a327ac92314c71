/** An error, shown where it happened; nothing where there is none. */
export const Problem = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <p class="note note-bad" role="alert">
      {text}
    </p>
  );

/** The same for a problem that comes later: the region exists before its text, so that a screen reader announces it. */
export const Alert = ({ text }: { readonly text: string | null }) => (
  <div role="alert">{text !== null && <p class="note note-bad">{text}</p>}</div>
);
