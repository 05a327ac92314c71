/** The days that are filled: up to yesterday, a year and a day, which is the longest range that counts accept. */
import { DAY_MS } from '@svc/protocol';

export const DAYS = 366;

export const startOfDay = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;
