/** Renders a page into its document. */
import { type ComponentChild, render } from 'preact';

export const startPage = (page: ComponentChild): void => {
  const place = document.getElementById('page');
  if (place === null) throw new Error('the document has no place for the page');
  const typed = [...place.querySelectorAll<Field>('input, textarea')]
    .filter(({ type, value, defaultValue }) => type !== 'file' && value !== defaultValue)
    .map((field) => [field, field.value] as const);
  render(page, place);
  // The first rendering empties the fields.
  for (const [field, value] of typed) {
    field.value = value;
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
};

type Field = HTMLInputElement | HTMLTextAreaElement;
