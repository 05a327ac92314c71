/** The options with which both clients reach the service. */
import { aFlag, aFunction, anInteger, aText, optionally, type Rules } from './arguments.ts';
import { SvcError } from './errors.ts';

export interface ConnectionOptions {
  baseUrl: string;
  apiKey?: string;
  fetch?: typeof fetch;
  timeoutMs?: number;
  allowHttp?: boolean;
  now?: () => number;
  random?: () => number;
}

/** At most a day: three times as long still fits a timer. A timer of more than 2^31−1 ms fires at once. */
export const timeoutRule = anInteger(1, 86_400_000, 'milliseconds');

export const connectionRules: Rules<ConnectionOptions> = {
  baseUrl: aText("the service's address as a string, https://…"),
  apiKey: optionally(aText()),
  fetch: optionally(aFunction()),
  timeoutMs: optionally(timeoutRule),
  allowHttp: optionally(aFlag),
  now: optionally(aFunction()),
  random: optionally(aFunction()),
};

/** @throws SvcError `configuration` if the pinned document is of another service than `serviceDid`, where both are given */
export function checkPinnedService(didDocument: unknown, serviceDid: string | undefined): void {
  const { id } = Object(didDocument);
  if (id === undefined || serviceDid === undefined || id === serviceDid) return;
  throw new SvcError(
    'configuration',
    `didDocument is of ${id}, and serviceDid is ${serviceDid}: pass the document and the DID of the same service`,
  );
}
