/** A text that a stranger chose, set apart from ours: in its own box, from left to right, with nothing in it that is not seen. */
import { UNSEEN } from '@svc/protocol';

/** What is not seen in one line: spaces at an end, and beside each other, too. */
const UNSEEN_IN_LINE = new RegExp(`${UNSEEN.source}|^ | (?= )| $`, 'gu');
/** What is not seen in a text that is laid out: its line breaks and the spaces of its indentation are. */
const UNSEEN_IN_LINES = new RegExp(`(?!\\n)(?:${UNSEEN.source})`, 'gu');

const byNumber = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** What is not seen, by its number: `\u{202e}`. */
export const visible = (text: string): string => text.replace(UNSEEN_IN_LINE, byNumber);

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
