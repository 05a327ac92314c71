/** The options that both clients have for reaching the service. */
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

/** A day: thrice as long still fits a timer, which fires at once beyond 2^31−1 ms. */
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
