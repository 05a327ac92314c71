/** What this tab sent in the playground, kept until the tab is closed, so that the dashboard can show it. */
import type { Receipt } from '@svc/receipts';
import type { VerifyRequest } from './wire.ts';

export interface Played {
  readonly receipt: Receipt;
  readonly action: VerifyRequest['action'];
}

const STORED_AS = 'svc-playground';
/** A Receipt and its action are 4 KB; a tab may store 5 MB. */
const MAX_PLAYED = 100;

export const rememberPlayed = (played: Played): void => {
  try {
    sessionStorage.setItem(STORED_AS, JSON.stringify([played, ...listPlayed()].slice(0, MAX_PLAYED)));
  } catch {
    // Where storage is not available, the dashboard has nothing to show either.
  }
};

/** Latest first. */
export const listPlayed = (): readonly Played[] => {
  try {
    return JSON.parse(sessionStorage.getItem(STORED_AS) ?? '[]') as readonly Played[];
  } catch {
    return [];
  }
};
