/**
 * A JSON value as indented text, coloured by type. Everything is inserted as text, never as markup. Invisible
 * characters are shown by their number.
 */
import type { JSX } from 'preact';
import { abridge } from './describe.ts';
import { visibleLines } from './resource.tsx';
import './json-view.css';

/** A string (with the colon, where it is a member's name), a number or a literal. */
const TOKEN = /("(?:\\.|[^"\\])*")(\s*:)?|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|\b(true|false|null)\b/g;

export const JsonView = ({ value, label }: { readonly value: unknown; readonly label: string }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
  <section class="json" tabIndex={0} aria-label={label}>
    <pre>
      <bdo dir="ltr">{tint(visibleLines(abridge(JSON.stringify(value, null, 2) ?? 'undefined')))}</bdo>
    </pre>
  </section>
);

const tint = (text: string): (string | JSX.Element)[] => {
  const pieces: (string | JSX.Element)[] = [];
  let end = 0;
  for (const match of text.matchAll(TOKEN)) {
    const [all, string, colon, number] = match;
    const kind =
      string === undefined ? (number === undefined ? 'word' : 'number') : colon ? 'name' : 'string';
    const shown = string ?? all;
    pieces.push(text.slice(end, match.index), <span class={`json-${kind}`}>{shown}</span>);
    end = match.index + shown.length;
  }
  pieces.push(text.slice(end));
  return pieces;
};
