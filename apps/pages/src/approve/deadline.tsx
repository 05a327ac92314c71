/** When a request expires, and how much time is left by the clock of this computer. */
import { useEffect, useState } from 'preact/hooks';
import { formatInstant } from '../shared/describe.ts';
import { describeLeft } from './words.ts';

const AGAIN_AFTER_MS = 10_000;

export const Deadline = ({ at }: { readonly at: string }) => {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNowMs(Date.now()), AGAIN_AFTER_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      {formatInstant(at)}, {describeLeft(Date.parse(at) - nowMs)}
    </>
  );
};
