/**
 * The service's revocation lists (protocol §9): created, signed and stored. The signed bytes are what is served;
 * they are never rebuilt, because compressed bytes differ between platforms.
 */
import { encodeBase64urlText, formatSeconds, jcs, sha256Of, signCompactJws } from '@svc/protocol';
import { buildStatusListCredential, createBitstring, encodeBitstring, setBit } from '@svc/status-list';
import type { ServiceDeps } from '../deps.ts';
import { internal } from '../errors.ts';
import type { GrantRecord } from '../ports/grants.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { StatusListRecord } from '../ports/status-lists.ts';
import type { Repositories } from '../ports/store.ts';

export const STATUS_LIST_BITS = 131_072;
export const STATUS_LIST_TTL_MS = 30_000;
export const STATUS_LIST_CONTENT_TYPE = 'application/vc+jwt';
const TYP = 'vc+jwt';

type Deps = Pick<ServiceDeps, 'clock' | 'random' | 'crypto' | 'identity'>;

/**
 * Opens the Principal's next list, all bits clear, and stores it with its signed credential. Its address is
 * `{statusBaseUrl}/<principal domain>/<n>`, numbered per domain, which several Principals may share.
 */
export const insertStatusList = async (
  deps: Deps,
  tx: Repositories,
  principal: Pick<PrincipalRecord, 'did' | 'domain'>,
): Promise<void> => {
  const { did, domain } = principal;
  const number = await tx.statusLists.takeNumber(domain);
  const url = `${deps.identity.statusBaseUrl}/${domain}/${number}`;
  const bits = createBitstring(STATUS_LIST_BITS);
  const signed = await signStatusList(deps, url, bits);
  await insertCredentialEvidence(tx, signed);
  const permutationKey = deps.random.bytes(32);
  await tx.statusLists.insert({
    url,
    principal: did,
    domain,
    number,
    sizeBits: STATUS_LIST_BITS,
    permutationKey,
    bits,
    ...signed,
  });
};

/** Sets bits in a list that the transaction has locked, and stores the newly signed credential. */
export const setStatusBits = async (
  deps: Deps,
  tx: Repositories,
  list: StatusListRecord,
  indexes: readonly number[],
): Promise<void> => {
  const bits = Uint8Array.from(list.bits);
  for (const index of indexes) setBit(bits, index);
  const signed = await signStatusList(deps, list.url, bits);
  await insertCredentialEvidence(tx, signed);
  await tx.statusLists.update({ url: list.url, bits, ...signed });
};

/** Sets the bits of Grants; each list is signed once, whatever the number of its Grants. Answers how many lists that were. */
export const revokeInLists = async (
  deps: Deps,
  tx: Repositories,
  grants: readonly Pick<GrantRecord, 'statusListUrl' | 'statusIndex'>[],
): Promise<number> => {
  const indexesByUrl = new Map<string, number[]>();
  for (const { statusListUrl, statusIndex } of grants) {
    const indexes = indexesByUrl.get(statusListUrl);
    if (indexes === undefined) indexesByUrl.set(statusListUrl, [statusIndex]);
    else indexes.push(statusIndex);
  }
  for (const url of [...indexesByUrl.keys()].sort()) {
    const list = await tx.statusLists.findForUpdate(url);
    if (list === null) throw internal(`no list ${url}`);
    await setStatusBits(deps, tx, list, indexesByUrl.get(url) ?? []);
  }
  return indexesByUrl.size;
};

/** The first part of every credential that this key signs. */
export const statusListHeader = (kid: string): string =>
  encodeBase64urlText(jcs({ alg: 'EdDSA', kid, typ: TYP }));

type SignedList = Pick<StatusListRecord, 'credential' | 'credentialHash' | 'validFromMs'>;

const signStatusList = async (deps: Deps, url: string, bits: Uint8Array): Promise<SignedList> => {
  const { did, statusKeys } = deps.identity;
  const validFromMs = Math.floor(deps.clock.nowMs() / 1000) * 1000;
  const payload = buildStatusListCredential({
    id: url,
    issuer: did,
    validFrom: formatSeconds(validFromMs),
    encodedList: encodeBitstring(bits),
    ttlMs: STATUS_LIST_TTL_MS,
  });
  const credential = await signCompactJws(statusKeys.signer, { typ: TYP }, jcs({ ...payload }));
  return { credential, credentialHash: sha256Of(deps.crypto, credential), validFromMs };
};

const insertCredentialEvidence = (
  tx: Repositories,
  { credential, credentialHash }: SignedList,
): Promise<void> =>
  tx.evidence.insertLoose({
    hash: credentialHash,
    contentType: STATUS_LIST_CONTENT_TYPE,
    body: Buffer.from(credential, 'ascii'),
  });
