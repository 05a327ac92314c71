/** Whether this verifier could verify: its key, its DIDs and the service, asked before the first request needs them. */
import { type CallOptions, getMe, type Me, SvcError, type Transport } from '@svc/sdk-core';
import type { Trust } from './trust.ts';

/** @throws SvcError, whose message says what to do; `configuration` where only another setting helps */
export async function checkReady(
  transport: Transport,
  baseUrl: string,
  trust: Trust,
  call: CallOptions,
): Promise<void> {
  return transport.whole(call, async (whole) => {
    const me = await getMe(transport, whole.rest()).catch((error: unknown) => {
      throw explain(error, baseUrl);
    });
    const problem = problemOfKey(me, trust) ?? problemOfDid('serviceDid', trust.serviceDid, me);
    if (problem !== null) throw new SvcError('configuration', problem);
    const { did } = await whole.wait(() => trust.documents.get());
    const other = problemOfDid('didDocument', did, me);
    if (other !== null) throw new SvcError('configuration', other);
  });
}

function problemOfKey({ role, subject }: Me, { relyingParty }: Trust): string | null {
  if (role !== 'rp')
    return `the API key is not a relying party's but one of role ${role}: pass the key of ${relyingParty ?? 'a relying party'}`;
  if (relyingParty === undefined || relyingParty === subject) return null;
  return `the API key is that of ${subject}, and relyingParty is ${relyingParty}: pass the DID and the key of the same one`;
}

const problemOfDid = (option: string, did: string | undefined, { service_did }: Me): string | null =>
  did === undefined || did === service_did
    ? null
    : `the service at baseUrl is ${service_did}, and ${option} is of ${did}: pass the address and the DID of the same one`;

/** A sentence that says what to do, for what this call can end with. */
function explain(error: unknown, baseUrl: string): unknown {
  if (!(error instanceof SvcError)) return error;
  const { host } = new URL(baseUrl);
  const { kind, status, code, requestId, retryAfterSeconds, helpUrl } = error;
  const detail = { status, code, requestId, retryAfterSeconds, helpUrl, cause: error };
  if (status === 401)
    return new SvcError(
      'configuration',
      `the service at ${host} does not know the API key: was it revoked, or is it another service's?`,
      detail,
    );
  if (status === 404 || status === 405)
    return new SvcError(
      'configuration',
      `what answers at ${baseUrl} is not the API of a service: check address, port and path of baseUrl (${error.message})`,
      detail,
    );
  if (kind === 'network' || kind === 'timeout')
    return new SvcError(
      kind,
      `the service at ${host} cannot be reached: check baseUrl and the network (${error.message})`,
      detail,
    );
  return error;
}
