/** Reasons why a cold day cannot be read. */
import { StoreError } from '@svc/service';

/** Cold days cannot be read, or not in time. Says nothing about the database. */
export class ColdReadError extends StoreError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('unavailable', message, options);
  }
}

/** A day left the database, came back to it, or got another manifest, between two statements. */
export class DayMovedError extends StoreError {
  constructor() {
    super('unavailable', 'a day has moved between the database and the store of cold days');
  }
}
