/**
 * A text that a stranger chose, set apart from the page's own: in its own box, from left to right, with every invisible
 * character shown.
 */
import { UNSEEN } from '@svc/protocol';

/** Invisible characters in one line, including spaces at an end or beside each other. */
const UNSEEN_IN_LINE = new RegExp(`${UNSEEN.source}|^ | (?= )| $`, 'gu');
/** Invisible characters in a text that is laid out: line breaks and the spaces of indentation are not among them. */
const UNSEEN_IN_LINES = new RegExp(`(?!\\n)(?:${UNSEEN.source})`, 'gu');

const byNumber = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** Replaces invisible characters by their number: `\u{202e}`. */
export const visible = (text: string): string => text.replace(UNSEEN_IN_LINE, byNumber);

export const visibleLines = (text: string): string => text.replace(UNSEEN_IN_LINES, byNumber);

/**
 * Shows at most the first `most` characters. Letters of some scripts would reverse the order of digits and slashes
 * beside them.
 */
export const Resource = ({ text, most = 2_048 }: { readonly text: string; readonly most?: number }) => {
  const characters = [...visible(text)];
  const shown = characters.length > most ? `${characters.slice(0, most).join('')}…` : characters.join('');
  return (
    <bdo dir="ltr" class="resource">
      {shown}
    </bdo>
  );
};

/** The same for a text of several lines. */
export const Note = ({ text }: { readonly text: string }) => (
  <bdo dir="ltr" class="resource resource-lines">
    {visibleLines(text)}
  </bdo>
);

/** Several texts, each in its own box. */
export const ResourceList = ({ texts }: { readonly texts: readonly string[] }) => (
  <>{texts.flatMap((text, i) => [i === 0 ? '' : ', ', <Resource key={`${i} ${text}`} text={text} />])}</>
);
