/** Seconds until the end of the UTC day, when daily counts begin again. */
import { DAY_MS } from '@svc/codec';

export const secondsUntilTomorrow = (nowMs: number): number => Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000);
