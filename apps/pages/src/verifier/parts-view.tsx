/** The verdict, and every part by name: right, wrong and why, or not judged. */
import { PartsList } from '../shared/parts-list.tsx';
import type { Checked } from './check.ts';
import { saysOf } from './verdict-text.ts';

const HEADINGS: Readonly<Record<Checked['verdict'], string>> = {
  valid: 'Valid',
  invalid: 'Not valid',
  undecided: 'Not decided',
};

export const PartsView = ({ checked }: { readonly checked: Checked }) => {
  const { verdict, parts } = checked;
  const wrong = parts.filter(({ state }) => state === 'wrong');
  return (
    <section class={`card verdict verdict-${verdict}`} aria-label="Verdict">
      <div role="status" class="verdict-head">
        <h2>{HEADINGS[verdict]}</h2>
        <p>
          {saysOf(checked)}
          {wrong.length > 0 && (
            <span class="unseen"> Wrong: {wrong.map(({ name }) => name).join(', ')}.</span>
          )}
        </p>
      </div>
      <PartsList parts={parts} />
    </section>
  );
};
