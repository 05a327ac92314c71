/** Numbers of decisions per UTC day (interface §GET /usage). */
import { instant } from './account.ts';
import type { CallOptions } from './call-options.ts';
import { readUsage } from './readers.generated.ts';
import type { Transport } from './transport.ts';
import type { Usage } from './wire.generated.ts';

/** Which decisions to count. An absent member does not restrict them. */
export interface UsageFilter {
  /** Decisions at this instant or later. Unless given: 29 days ago, 00:00 UTC. */
  since?: Date | string;
  /** Decisions before this instant, at most 366 days after `since`. Unless given: tomorrow, 00:00 UTC. */
  until?: Date | string;
  /** Decisions of one relying party. */
  rp?: string;
  /** Decisions about the Grants of one Principal. */
  principal?: string;
  /** Decisions requested with one API key. */
  keyId?: string;
  /** Also splits each day's numbers by API key. */
  by?: 'key';
}

export async function getUsage(
  transport: Transport,
  { since, until, keyId, ...filter }: UsageFilter,
  call: CallOptions,
): Promise<Usage> {
  const query = {
    ...filter,
    ...(keyId === undefined ? {} : { key_id: keyId }),
    ...instant('since', since),
    ...instant('until', until),
  };
  const { body } = await transport.send({ method: 'GET', path: '/usage', query, hasEffect: false, ...call });
  return readUsage(body, 'the usage');
}
