/** A text that a stranger chose, set apart from ours: in its own box, from left to right, with nothing in it that is not seen. */

/** Control and format characters, spaces that do not look like one, what has no glyph; spaces at an end, and beside each other. */
const UNSEEN = /[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}|^ | (?= )| $/gu;
/** The same in a text that is laid out: its line breaks and the spaces of its indentation are seen. */
const UNSEEN_IN_LINES = /(?!\n)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]|(?! )\p{Zs}/gu;

const byNumber = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** What is not seen, by its number: `\u{202e}`. */
export const visible = (text: string): string => text.replace(UNSEEN, byNumber);

export const visibleLines = (text: string): string => text.replace(UNSEEN_IN_LINES, byNumber);

/** `most`: characters of it; of a longer one the beginning. Letters of some scripts would turn the order of digits and slashes beside them. */
export const Resource = ({ text, most = 2_048 }: { readonly text: string; readonly most?: number }) => {
  const characters = [...visible(text)];
  const shown = characters.length > most ? `${characters.slice(0, most).join('')}…` : characters.join('');
  return (
    <bdo dir="ltr" class="resource">
      {shown}
    </bdo>
  );
};

/** Several, each in its own box. */
export const ResourceList = ({ texts }: { readonly texts: readonly string[] }) => (
  <>{texts.flatMap((text, i) => [i === 0 ? '' : ', ', <Resource key={`${i} ${text}`} text={text} />])}</>
);
