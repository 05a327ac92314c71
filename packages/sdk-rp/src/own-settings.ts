/** The relying party's own settings (interface §Relying party) and its own pause (protocol §9). */
import {
  type CallOptions,
  createPauses,
  didInPath,
  getMe,
  type Pause,
  type PauseOptions,
  type RelyingParty,
  readRelyingParty,
  SvcError,
  type Transport,
} from '@svc/sdk-core';

/** The service's settings for this relying party. */
export interface OwnSettings {
  /** The settings: Proof window, rate limit, profile. */
  get(options?: CallOptions): Promise<RelyingParty>;
  /**
   * Pauses this relying party. Returns once no node allows any of its verifications. Verifications are denied with
   * `SERVICE_UNAVAILABLE` until `resume`. Repeatable.
   * @throws SvcError after a bounded number of attempts. The pause may then not be in force, so call again.
   */
  pause(options?: PauseOptions): Promise<Pause>;
  /** Ends that pause. Other pauses stay in force. Repeatable. */
  resume(options?: CallOptions): Promise<{ resumedAt: string }>;
  /** The pauses that concern this relying party: of itself, its org, or the whole service. */
  pauses(options?: CallOptions): AsyncGenerator<Pause, void, undefined>;
}

export function createOwnSettings(
  transport: Transport,
  relyingParty: string | undefined,
  timeoutMs: number,
): OwnSettings {
  const patience = { timeoutMs: 3 * timeoutMs };
  const pauses = createPauses<'relying_party'>(transport, patience);
  const own = async (call: CallOptions) => {
    const subject = relyingParty ?? (await ownDid(transport, call));
    return { scope: 'relying_party', subject } as const;
  };
  return {
    async get(call = {}) {
      return transport.whole(call, async (whole) => {
        const { subject: did } = await own(whole.rest());
        const path = `/relying-parties/${didInPath(did)}`;
        const answer = await transport.send({ method: 'GET', path, hasEffect: false, ...whole.rest() });
        const found = readRelyingParty(answer.body, 'the relying party');
        if (found.did !== did)
          throw new SvcError('bad-response', 'the service answered about another relying party', answer);
        return found;
      });
    },
    async pause({ reason, ...call } = {}) {
      const why = reason === undefined ? {} : { reason };
      return transport.whole({ ...patience, ...call }, async (whole) =>
        pauses.pause(await own(whole.rest()), { ...whole.rest(), ...why }),
      );
    },
    async resume(call = {}) {
      return transport.whole({ ...patience, ...call }, async (whole) => {
        const { resumedAt } = await pauses.resume(await own(whole.rest()), whole.rest());
        return { resumedAt };
      });
    },
    pauses: (call = {}) => pauses.list({}, call),
  };
}

async function ownDid(transport: Transport, call: CallOptions): Promise<string> {
  const { role, subject } = await getMe(transport, call);
  if (role !== 'rp') throw new SvcError('configuration', `the API key is not a relying party's: ${role}`);
  return subject;
}
