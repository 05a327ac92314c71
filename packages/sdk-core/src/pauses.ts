/** Pauses (protocol §9): authority that is suspended for a while and can be resumed. */

import { aText, isText, optionally, type Rules, readArgument, rule } from './arguments.ts';
import type { CallOptions } from './call-options.ts';
import { SvcError } from './errors.ts';
import { iteratePages } from './pages.ts';
import { readPause, readPauseList, readResumed } from './readers.generated.ts';
import type { Transport } from './transport.ts';
import type { Pause, PauseList } from './wire.generated.ts';

/** What to pause. */
export interface PauseTarget<Scope extends Pause['scope'] = Pause['scope']> {
  scope: Scope;
  /** A Grant's id, an Agent's did:key, the DID of a Principal or a relying party, or an org's id, as `scope` says. */
  subject: string;
  /** With an org's key: the member to which the Grant or Agent belongs; required for these scopes. */
  principal?: string;
}

/** Options of one pause. */
export interface PauseOptions extends CallOptions {
  /** Why; shown to everyone who sees the pause later. At most 500 characters. */
  reason?: string;
}

/** Pauses within the caller's own authority; for an org, also within that of its members. */
export interface Pauses<Scope extends Pause['scope'] = Pause['scope']> {
  /**
   * Returns once the pause is in force everywhere: no ALLOW is dated after `paused_at`. Repeatable; a repeated pause
   * keeps the first caller and reason. Unlike a revocation a pause can be ended, and no status list shows it.
   * @throws SvcError after a bounded number of attempts. The pause may then not be in force, so call again.
   */
  pause(target: PauseTarget<Scope>, options?: PauseOptions): Promise<Pause>;
  /**
   * Returns once this pause denies nothing any more. Other pauses stay in force. Repeatable.
   * @throws SvcError after a bounded number of attempts. The pause may then still be in force, so call again.
   */
  resume(
    target: PauseTarget<Scope>,
    options?: CallOptions,
  ): Promise<{ scope: Scope; subject: string; resumedAt: string }>;
  /**
   * The pauses that concern the caller, those of its org and of the service included; newest first. Pages are fetched
   * as the list is consumed.
   */
  list(
    filter?: { scope?: Pause['scope']; limit?: number },
    options?: CallOptions,
  ): AsyncGenerator<Pause, void, undefined>;
  /** One page of the list; `next_cursor` is the `cursor` of the next page, null on the last one. */
  page(
    filter?: { scope?: Pause['scope']; limit?: number; cursor?: string },
    options?: CallOptions,
  ): Promise<PauseList>;
}

/** `patience`: how long to retry while a change is recorded but not yet visible. */
export function createPauses<Scope extends Pause['scope']>(
  transport: Transport,
  patience: { readonly timeoutMs: number },
): Pauses<Scope> {
  const page: Pauses<Scope>['page'] = async (filter = {}, call = {}) => {
    const query = { ...filter };
    const answer = await transport.send({ method: 'GET', path: '/pauses', query, hasEffect: false, ...call });
    return readPauseList(answer.body, 'the page');
  };
  const post = async (path: string, target: PauseTarget, more: object, call: CallOptions) => {
    const { scope, subject, principal } = target;
    const query = principal === undefined ? {} : { principal };
    const body = { scope, subject, ...more };
    return transport.send({ method: 'POST', path, query, body, hasEffect: true, ...patience, ...call });
  };
  return {
    async pause(given, { reason, ...call } = {}) {
      const target = readTarget(given);
      const answer = await post('/pauses', target, reason === undefined ? {} : { reason }, call);
      return about(target, readPause(answer.body, 'the pause'));
    },
    async resume(given, call = {}) {
      const target = readTarget(given);
      const answer = await post('/pauses/resume', target, {}, call);
      const { scope, subject } = target;
      const { resumed_at: resumedAt } = about(target, readResumed(answer.body, 'the answer'));
      return { scope, subject, resumedAt };
    },
    list: (filter = {}, call = {}) =>
      iteratePages(
        (cursor) => page({ ...filter, ...cursor }, call),
        ({ pauses }) => pauses,
      ),
    page,
  };
}

const TARGET: Rules<PauseTarget> = {
  scope: rule('a scope, such as "grant"', (value): value is Pause['scope'] => isText(value)),
  subject: aText('the id or the DID of what is meant, as scope says'),
  principal: optionally(aText('the DID of the member whose Grant or Agent it is')),
};

/** The target is read once, because the answer must be about what was sent. */
const readTarget = <Scope extends Pause['scope']>(target: PauseTarget<Scope>): PauseTarget<Scope> =>
  readArgument<PauseTarget>('what is paused', target, TARGET) as PauseTarget<Scope>;

function about<Answer extends { scope: string; subject: string }>(
  { scope, subject }: PauseTarget,
  answer: Answer,
): Answer {
  if (answer.scope === scope && answer.subject === subject) return answer;
  throw new SvcError('bad-response', 'the service answered about something else');
}
