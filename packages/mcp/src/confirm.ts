/**
 * Every issue and revocation needs a confirmation: the client shows its user exactly what will be done. If the client
 * cannot ask its user, and the server was started with that option, a second call with a token confirms.
 */
import { createHash, randomBytes } from 'node:crypto';
import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { type JsonValue, jcs } from '@svc/codec';
import type { Teller, ToolResult } from './tool-result.ts';

/** The time that a person has to read and decide. */
const ASK_DEADLINE_MS = 120_000;
const TOKEN_LIFETIME_MS = 300_000;
const MAX_TOKENS = 16;
/** People read no more than this before they click, and unread text is not confirmed. */
export const MAX_QUESTION_CHARS = 4_000;

export interface Intent {
  readonly tool: string;
  /** Everything that would be done, in words. The user sees the whole text. */
  readonly question: string;
  /** The input that determines what is done. */
  readonly input: JsonValue;
}

export type Confirmation =
  | { readonly kind: 'confirmed' }
  | { readonly kind: 'refused'; readonly says: string }
  /** The token for a second call with the same input. */
  | { readonly kind: 'asked'; readonly token: string };

export interface Confirmer {
  confirm(intent: Intent, token: string | undefined): Promise<Confirmation>;
}

const YES_OR_NO = {
  type: 'object' as const,
  properties: { confirm: { type: 'boolean' as const, title: 'Yes, do exactly this', default: false } },
  required: ['confirm'],
};

interface Options {
  readonly server: McpServer['server'];
  readonly byToken: boolean;
  /** The clock, in milliseconds since the epoch. */
  readonly now?: () => number;
}

const refused = (says: string): Confirmation => ({ kind: 'refused', says });

export const createConfirmer = ({ server, byToken, now = Date.now }: Options): Confirmer => {
  const waiting = new Map<string, { readonly digest: string; readonly until: number }>();
  const digestOf = ({ tool, input }: Intent): string =>
    createHash('sha256')
      .update(jcs([tool, input]))
      .digest('hex');

  let isAsking = false;
  const ask = async ({ question }: Intent): Promise<Confirmation> => {
    // One question at a time, because people confirm a series of questions unread.
    if (isAsking)
      return refused(
        'The user is being asked something else. Nothing was done: call again once that is answered.',
      );
    isAsking = true;
    const params = { message: question, requestedSchema: YES_OR_NO };
    const answer = await server
      .elicitInput(params, { timeout: ASK_DEADLINE_MS })
      .catch(() => null)
      .finally(() => {
        isAsking = false;
      });
    if (answer === null)
      return refused(
        `The client brought no answer of its user within ${ASK_DEADLINE_MS / 1_000} s. Nothing was done.`,
      );
    return answer.action === 'accept' && answer.content?.confirm === true
      ? { kind: 'confirmed' }
      : refused('The user did not confirm it. Nothing was done. Do not ask again unless the user wants it.');
  };

  const issueToken = (intent: Intent): Confirmation => {
    const oldest = waiting.keys().next().value;
    if (waiting.size >= MAX_TOKENS && oldest !== undefined) waiting.delete(oldest);
    const token = randomBytes(18).toString('base64url');
    waiting.set(token, { digest: digestOf(intent), until: now() + TOKEN_LIFETIME_MS });
    return { kind: 'asked', token };
  };

  const redeem = (intent: Intent, token: string): Confirmation => {
    const found = waiting.get(token);
    waiting.delete(token);
    if (found === undefined || found.until < now())
      return refused(
        'This confirm_token is unknown, used or older than five minutes. Nothing was done: call without one.',
      );
    return found.digest === digestOf(intent)
      ? { kind: 'confirmed' }
      : refused('This confirm_token is for other arguments. Nothing was done: call without one.');
  };

  return {
    confirm: async (intent, token) => {
      if (intent.question.length > MAX_QUESTION_CHARS)
        return refused(
          `What would be done takes ${intent.question.length} characters to say, and only ${MAX_QUESTION_CHARS} can be confirmed. Nothing was done: ask for less.`,
        );
      // If the client can ask its user, it always must.
      if (server.getClientCapabilities()?.elicitation?.form !== undefined) return ask(intent);
      if (!byToken)
        return refused(
          'This client cannot ask its user (elicitation), so nothing can be confirmed and nothing was done. The user may start svc-mcp with --confirm-by-token.',
        );
      return token === undefined ? issueToken(intent) : redeem(intent, token);
    },
  };
};

/** Performs what was confirmed. Otherwise tells the model why nothing was done, or what to ask the user. */
export type WhenConfirmed = (
  intent: Intent,
  token: string | undefined,
  act: () => Promise<ToolResult>,
) => Promise<ToolResult>;

/** How a tool answers, and how it asks before it changes something. */
export interface Telling {
  readonly teller: Teller;
  readonly whenConfirmed: WhenConfirmed;
}

/** The same for changes on behalf of a Principal. */
export interface Confirming extends Telling {
  readonly principal: () => Promise<string>;
}

export const createWhenConfirmed =
  (confirmer: Confirmer, teller: Teller): WhenConfirmed =>
  async (intent, token, act) => {
    const confirmation = await confirmer.confirm(intent, token);
    switch (confirmation.kind) {
      case 'confirmed':
        return act();
      case 'refused':
        return teller.refuse(confirmation.says);
      case 'asked':
        return teller.tell(
          'NOT DONE YET. Show the user the question below, word for word. Only where the user says yes, call again with the same arguments and this confirm_token; it holds for five minutes and once.',
          undefined,
          // Our own words and bounded quotations. As a part of the data this would be truncated.
          { question: intent.question, confirm_token: confirmation.token },
        );
    }
  };
