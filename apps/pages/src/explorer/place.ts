/**
 * Where the reader is, in the fragment of the address: `#receipt=drc_…` or `#day=2026-11-20`. Links to it stay valid.
 */
import { useLayoutEffect, useState } from 'preact/hooks';

export interface Place {
  readonly receipt: string | null;
  readonly day: string | null;
}

const readPlace = (): Place => {
  const fragment = new URLSearchParams(location.hash.slice(1));
  return { receipt: fragment.get('receipt'), day: fragment.get('day') };
};

/** Empty until the page has been rendered into its document. */
export const usePlace = (): Place => {
  const [place, setPlace] = useState<Place>({ receipt: null, day: null });
  useLayoutEffect(() => {
    const onChange = () => setPlace(readPlace());
    onChange();
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return place;
};

export const goToReceipt = (receiptId: string): void => {
  const hash = `#${new URLSearchParams({ receipt: receiptId })}`;
  // Setting the same address fires no event, and the Receipt must be looked up again.
  if (location.hash === hash) dispatchEvent(new HashChangeEvent('hashchange'));
  else location.hash = hash;
};
