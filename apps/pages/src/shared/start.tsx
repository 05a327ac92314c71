/** Renders a page into its document. */
import { type ComponentChild, render } from 'preact';

export const startPage = (page: ComponentChild): void => {
  const place = document.getElementById('page');
  if (place === null) throw new Error('the document has no place for the page');
  render(page, place);
};
