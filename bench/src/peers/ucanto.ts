/** A UCAN delegation and its invocation, both signed with Ed25519, read from the bytes in which they travel. */
import { extract } from '@ucanto/core/delegation';
import { ed25519, Verifier } from '@ucanto/principal';
import { access, capability, fail, ok, Schema } from '@ucanto/validator';
import { demand, type Peer, REQUESTS, turnOf } from './peer.ts';

/** Longer than a run takes; the library's default is half a minute. */
export const LIFETIME_SECONDS = 3_600;

export const purchase = capability({
  can: 'commerce/purchase',
  with: Schema.did(),
  nb: Schema.struct({ amount: Schema.integer(), currency: Schema.string() }),
  derives: (claimed, delegated) => {
    const isWithin = claimed.with === delegated.with && claimed.nb.amount <= delegated.nb.amount;
    // The library's types do not accept those of its own results under `exactOptionalPropertyTypes`.
    return (isWithin ? ok({}) : fail('more than was delegated')) as { readonly ok: object };
  },
});

const validateAuthorization = () => ({ ok: {} });

export async function ucantoPeer(): Promise<Peer> {
  const [principal, service] = [await ed25519.generate(), await ed25519.generate()];
  const invocations: Uint8Array[] = [];
  for (let i = 0; i < REQUESTS; i++) {
    const agent = await ed25519.generate();
    const about = { with: principal.did(), nb: { amount: 50_000, currency: 'USD' } };
    const proof = await purchase.delegate({
      ...about,
      issuer: principal,
      audience: agent,
      lifetimeInSeconds: LIFETIME_SECONDS,
    });
    const invocation = purchase.invoke({
      ...{ with: principal.did(), nb: { amount: 42_700, currency: 'USD' } },
      ...{ lifetimeInSeconds: LIFETIME_SECONDS, issuer: agent, audience: service, proofs: [proof] },
    });
    const { ok: bytes } = await (await invocation.delegate()).archive();
    demand(bytes !== undefined, '@ucanto/core: not archived');
    invocations.push(bytes);
  }
  return {
    name: '@ucanto/validator',
    signatures: 2,
    without: 'revocation, replays, Receipt',
    run: async (i) => {
      const { ok: invocation } = await extract(turnOf(invocations, i));
      demand(invocation !== undefined, '@ucanto/core: no invocation');
      const { error } = await access(invocation as never, {
        ...{ authority: service, capability: purchase, principal: Verifier, validateAuthorization },
      });
      demand(error === undefined, `@ucanto/validator: ${error?.message}`);
    },
  };
}
