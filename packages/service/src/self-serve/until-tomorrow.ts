/** What is counted by the UTC day begins anew at its end. */
import { DAY_MS } from '@svc/codec';

export const secondsUntilTomorrow = (nowMs: number): number => Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000);
