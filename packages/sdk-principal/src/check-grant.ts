/** Checks, before anything is signed, that a Grant is for this Agent and this relying party. */
import { type DidKey, type Grant, parseGrant } from '@svc/protocol';
import { SvcError } from '@svc/sdk-core/errors';

/** @throws SvcError `invalid-argument` */
export function checkGrant({
  agent,
  grant,
  audience,
}: {
  readonly agent: { readonly did: DidKey };
  readonly grant: string;
  readonly audience: string;
}): Grant {
  const parsed = parseGrant(grant);
  if (!parsed.ok) throw new SvcError('invalid-argument', `not a Grant: ${parsed.problem}`);
  if (parsed.value.agent !== agent.did)
    throw new SvcError('invalid-argument', 'the Grant is for another Agent');
  const allowed: readonly string[] | null = parsed.value.audience;
  if (allowed !== null && !allowed.includes(audience)) {
    throw new SvcError('invalid-argument', `the Grant is not for ${audience}`);
  }
  return parsed.value;
}
