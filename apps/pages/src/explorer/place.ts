/** Where the reader is, in the fragment of the address: `#receipt=drc_…` or `#day=2026-11-20`. Links to it keep. */
import { useEffect, useState } from 'preact/hooks';

export interface Place {
  readonly receipt: string | null;
  readonly day: string | null;
}

const readPlace = (): Place => {
  const fragment = new URLSearchParams(location.hash.slice(1));
  return { receipt: fragment.get('receipt'), day: fragment.get('day') };
};

export const usePlace = (): Place => {
  const [place, setPlace] = useState(readPlace);
  useEffect(() => {
    const onChange = () => setPlace(readPlace());
    addEventListener('hashchange', onChange);
    return () => removeEventListener('hashchange', onChange);
  }, []);
  return place;
};

export const goToReceipt = (receiptId: string): void => {
  location.hash = new URLSearchParams({ receipt: receiptId }).toString();
};
