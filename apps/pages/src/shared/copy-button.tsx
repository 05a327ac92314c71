/** Copies a text and confirms it, visibly and to a screen reader. */
import { useEffect, useState } from 'preact/hooks';

const SHOWN_MS = 1_600;

export const CopyButton = ({ text, label }: { readonly text: string; readonly label: string }) => {
  const [state, setState] = useState<'idle' | 'copied' | 'refused'>('idle');
  useEffect(() => {
    if (state === 'idle') return;
    const timer = setTimeout(() => setState('idle'), SHOWN_MS);
    return () => clearTimeout(timer);
  }, [state]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => setState('copied'),
      () => setState('refused'),
    );
  const says = { idle: label, copied: 'Copied', refused: 'The browser refused' }[state];
  return (
    <button type="button" class="button button-quiet" onClick={() => void copy()}>
      <span aria-live="polite">{says}</span>
    </button>
  );
};
