/** An error, said where it happened; nothing where there is none. */
export const Problem = ({ text }: { readonly text: string | null }) =>
  text === null ? null : (
    <p class="note note-bad" role="alert">
      {text}
    </p>
  );
