/** The title and description of a page, taken from its first lines. */
import type { Source } from './sources.ts';

export interface Head {
  readonly title: string;
  /** One sentence of plain text. */
  readonly description: string;
}

/** @throws Error where a page has no title or no sentence */
export const headOf = ({ markdown, address }: Pick<Source, 'markdown' | 'address'>): Head => {
  const prose = markdown
    .replaceAll(/^```.*?^```$/gms, '')
    // The decision may begin with a list.
    .replaceAll(/^\*\*Decision\.\*\*\n+(?:- )?/gm, '**Decision.** ');
  const [whole = '', title] = /^# (.*)$/m.exec(prose) ?? [];
  if (title === undefined) throw new Error(`${address} has no title`);
  const parts = prose.slice(prose.indexOf(whole) + whole.length).split(/\n{2,}/);
  // The description of a decision page is the decision.
  const first = parts.filter((part) => part.startsWith('**Decision.**'));
  const sentences = [...first, ...parts].map((part) => sentenceOf(part.trim()));
  const description = sentences.find((sentence) => sentence !== '');
  if (description === undefined) throw new Error(`${address} has no sentence that says what it is about`);
  return { title: plain(title), description };
};

/** The first sentence of a paragraph; empty for a heading, a list, a table, a picture or a quotation. */
const sentenceOf = (paragraph: string): string => {
  if (/^(?:[#>|!<]|[-*] |[0-9]+\. )/.test(paragraph)) return '';
  const text = plain(paragraph.replace(/^\*\*\w+\.\*\* /, ''));
  const sentence = /^.*?[.?!](?= |$)/.exec(text)?.[0] ?? text;
  // What the colon introduces, such as a list, is not part of the description.
  return sentence.replace(/[:;,]$/, '.');
};

const plain = (markdown: string): string =>
  markdown
    .replaceAll(/!?\[(.*?)\]\(.*?\)/gs, '$1')
    .replaceAll(/\*\*|`/g, '')
    .replaceAll(/\s+/g, ' ')
    .trim();
