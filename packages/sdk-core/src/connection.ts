/** The options with which both clients reach the service. */
import { aFlag, aFunction, anInteger, aText, optionally, type Rules } from './arguments.ts';

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
