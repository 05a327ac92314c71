/** Signs the SETs of a poll (protocol §17), in turns with everything else that the status key signs for callers. */
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';
import type { FairLimiter } from '../lib/fair-limiter.ts';
import type { StreamRecord, WaitingEvent } from '../ports/streams.ts';
import type { Tenant } from '../ports/tenant.ts';
import { SIGNING_MS, StatusSignatures } from '../service-keys/status-signatures.ts';
import { setClaims, signSet } from './set.ts';

type Deps = { readonly identity: Pick<ServiceDeps['identity'], 'baseUrl' | 'did' | 'statusKeys'> };

export class SetSigner {
  readonly #signatures: StatusSignatures;

  constructor(
    private readonly deps: Deps,
    turns: FairLimiter,
  ) {
    this.#signatures = new StatusSignatures(deps.identity, turns);
  }

  /**
   * The signed SETs by `jti`: as many of these events, from the first on, as are signed in time. `SERVICE_UNAVAILABLE`
   * when there are events and none was signed.
   */
  async sign(
    events: readonly WaitingEvent[],
    stream: StreamRecord,
    tenant: Tenant,
  ): Promise<Readonly<Record<string, string>>> {
    const sets: Record<string, string> = {};
    const dueMs = performance.now() + SIGNING_MS;
    for (const event of events) {
      try {
        const claims = setClaims(event, stream, this.deps.identity);
        sets[claims.jti] = await this.#signatures.get(claims.jti, tenant, dueMs, (signer) =>
          signSet(signer, claims),
        );
      } catch (error) {
        if (Object.keys(sets).length > 0) break;
        throw serviceUnavailable('what signs SETs is away', error);
      }
    }
    return sets;
  }
}
