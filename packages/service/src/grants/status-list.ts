/**
 * The service's revocation lists (protocol §9): created, signed and stored. The signed bytes are served as stored and
 * never built again, because compressed bytes differ between platforms.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { encodeBase64urlText, formatSeconds, jcs, sha256Of, signCompactJws } from '@svc/protocol';
import { buildStatusListCredential, createBitstring, encodeGzipped, getBit, setBit } from '@svc/status-list';
import type { ServiceDeps } from '../deps.ts';
import { internal, ServiceError, serviceUnavailable } from '../errors.ts';
import type { GrantRecord, Revocable, SignedRevocations } from '../ports/grants.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import type { SignedStatusList, StatusListRecord } from '../ports/status-lists.ts';
import type { Repositories } from '../ports/store.ts';

export const STATUS_LIST_BITS = 131_072;
const STATUS_LIST_TTL_MS = 30_000;
export const STATUS_LIST_CONTENT_TYPE = 'application/vc+jwt';
const TYP = 'vc+jwt';

/**
 * Compresses on another thread: it takes milliseconds, and a tenant that revokes much must not block the event loop for
 * the others.
 */
const gzipElsewhere = promisify(gzip);

type Deps = Pick<ServiceDeps, 'clock' | 'random' | 'crypto' | 'identity'>;

/**
 * Creates the Principal's next list, with all bits clear, and stores it with its signed credential. Its URL is
 * `{statusBaseUrl}/<principal domain>/<n>`. The number counts per domain, which several Principals may share.
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
  { url, bits }: Pick<StatusListRecord, 'url' | 'bits'>,
  indexes: readonly number[],
): Promise<void> => {
  const signed = await signWith(deps, url, bits, indexes);
  await insertCredentialEvidence(tx, signed);
  await tx.statusLists.update(signed);
};

/** The place of a Grant's bit. */
export type Entry = Pick<GrantRecord, 'statusListUrl' | 'statusIndex'>;

/**
 * Sets the bits of Grants that are not yet set in their lists. Each list is signed once, whatever the number of its
 * Grants. Returns the number of lists signed. Rejects with `SERVICE_UNAVAILABLE` when the signer of lists is
 * unavailable; the transaction may go on.
 */
export const revokeInLists = async (
  deps: Deps,
  tx: Repositories,
  grants: readonly Entry[],
): Promise<number> => {
  let signed = 0;
  for (const [url, indexes] of groupByList(grants)) {
    const list = await tx.statusLists.findForUpdate(url);
    if (list === null) throw internal(`no list ${url}`);
    const missing = indexes.filter((index) => !getBit(list.bits, index));
    if (missing.length === 0) continue;
    await setStatusBits(deps, tx, list, missing);
    signed += 1;
  }
  return signed;
};

/** The error, when it says that the signer of lists is unavailable. Throws every other error. */
export const notSigned = (error: unknown): ServiceError => {
  if (error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE') return error;
  throw error;
};

/** The lists of these Grants with the Grants' bits set, each signed once. `lists`: the stored lists by URL. */
export const signRevoked = (
  deps: Deps,
  lists: Revocable['lists'],
  grants: readonly Entry[],
): Promise<SignedRevocations['lists']> =>
  Promise.all(
    [...groupByList(grants)].map(async ([url, indexes]) => {
      const list = lists.get(url);
      if (list === undefined) throw internal(`no list ${url}`);
      return { ...(await signWith(deps, url, list.bits, indexes)), version: list.version };
    }),
  );

/** The indexes by the URL of their list, with ascending URLs. */
const groupByList = (grants: readonly Entry[]): ReadonlyMap<string, readonly number[]> => {
  const indexesByUrl = new Map<string, number[]>();
  for (const { statusListUrl, statusIndex } of grants) {
    const indexes = indexesByUrl.get(statusListUrl);
    if (indexes === undefined) indexesByUrl.set(statusListUrl, [statusIndex]);
    else indexes.push(statusIndex);
  }
  return new Map([...indexesByUrl].sort(([one], [other]) => (one < other ? -1 : 1)));
};

const signWith = async (
  deps: Deps,
  url: string,
  before: Uint8Array,
  indexes: readonly number[],
): Promise<SignedStatusList> => {
  const bits = Uint8Array.from(before);
  for (const index of indexes) setBit(bits, index);
  return { url, bits, ...(await signStatusList(deps, url, bits)) };
};

/** The JWS header, the first part of every credential that this key signs. */
export const statusListHeader = (kid: string): string =>
  encodeBase64urlText(jcs({ alg: 'EdDSA', kid, typ: TYP }));

type SignedList = Pick<StatusListRecord, 'credential' | 'credentialHash' | 'validFromMs'>;

const signStatusList = async (deps: Deps, url: string, bits: Uint8Array): Promise<SignedList> => {
  const { did, statusKeys } = deps.identity;
  // Locks are held here, so a signer that is known to be unavailable is not waited for.
  const fault = statusKeys.signer.findFault?.() ?? null;
  if (fault !== null) throw serviceUnavailable(fault);
  const validFromMs = Math.floor(deps.clock.nowMs() / 1000) * 1000;
  const payload = buildStatusListCredential({
    id: url,
    issuer: did,
    validFrom: formatSeconds(validFromMs),
    encodedList: encodeGzipped(await gzipElsewhere(bits)),
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
