/** An error, said where it happened; nothing where there is none. */
export const Problem = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <p class="note note-bad" role="alert">
      {text}
    </p>
  );

/** The same where a screen reader is to hear a problem that comes later: the region is there before its text. */
export const Alert = ({ text }: { readonly text: string | null }) => (
  <div role="alert">{text !== null && <p class="note note-bad">{text}</p>}</div>
);
