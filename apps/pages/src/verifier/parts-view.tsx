/** The verdict, and every part of it by name: right, wrong and why, or not judged. */
import { PartsList } from '../shared/parts-list.tsx';
import type { Checked } from './check.ts';

const HEADINGS: Readonly<Record<Checked['verdict'], { readonly title: string; readonly says: string }>> = {
  valid: {
    title: 'Valid',
    says: 'The service signed exactly this, and it agrees with itself.',
  },
  invalid: {
    title: 'Not valid',
    says: 'Do not rely on it. What is wrong is named below.',
  },
  undecided: {
    title: 'Not decided',
    says: 'It agrees with itself, but without the service’s document nobody can say who signed it.',
  },
};

export const PartsView = ({ checked: { verdict, parts } }: { readonly checked: Checked }) => {
  const { title, says } = HEADINGS[verdict];
  const wrong = parts.filter(({ state }) => state === 'wrong');
  return (
    <section class={`card verdict verdict-${verdict}`} aria-label="Verdict">
      <div role="status" class="verdict-head">
        <h2>{title}</h2>
        <p>
          {says}
          {wrong.length > 0 && (
            <span class="unseen"> Wrong: {wrong.map(({ name }) => name).join(', ')}.</span>
          )}
        </p>
      </div>
      <PartsList parts={parts} />
    </section>
  );
};
