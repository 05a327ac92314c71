/** The days that are filled: a year and a day, the longest range that counts can be asked for, up to yesterday. */
import { DAY_MS } from '@svc/protocol';

export const DAYS = 366;

export const startOfDay = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;
