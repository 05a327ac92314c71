/**
 * Checks every status list (protocol §9): the served credential is signed by the service, is kept as evidence, and has
 * the stored revocation bit of each Grant; each Grant has an index that its list allocated.
 */
import { sha256Of } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { permuteIndex } from '@svc/service';
import { decodeBitstring, getBit } from '@svc/status-list';
import { type Check, type CheckContext, pages } from '../check.ts';
import { readOwnList } from '../own-list.ts';

interface Row {
  readonly url: string;
  readonly principal: string;
  readonly sizeBits: number;
  readonly permutationKey: Buffer;
  readonly bits: Buffer;
  readonly credential: string;
  readonly hash: string;
  readonly validFromMs: string;
  readonly allocated: number;
  readonly isClosed: boolean;
  readonly isKept: boolean;
  /** Whether the URL matches the domain and number. */
  readonly isInPlace: boolean;
}

const SQL = `
  select url, principal, size_bits as "sizeBits", permutation_key as "permutationKey", bits, credential,
    credential_hash as hash, svc_ms(valid_from) as "validFromMs", next_ordinal as allocated, is_closed as "isClosed",
    right(url, length(domain) + length(number::text) + 2) = '/' || domain || '/' || number as "isInPlace",
    exists (select from evidence e where e.hash = l.credential_hash
      and e.body = convert_to(l.credential, 'UTF8')) as "isKept"
  from status_lists l where url > $1 order by url limit $2`;

export const statusListCheck: Check = {
  name: 'status lists',
  promise:
    'every status list is signed by the service and says exactly which of its Grants are revoked, but those that nobody was told of yet',
  countSql: 'select count(*) from status_lists',
  async run(context) {
    for await (const rows of pages<Row>(context, SQL, ({ url }) => url, 20))
      for (const row of rows) {
        for (const problem of problemsOf(context, row)) context.report(row.url, problem);
        await checkGrants(context, row);
        context.advance(1);
      }
  },
};

function* problemsOf({ keys }: CheckContext, row: Row): Generator<string> {
  const { url, credential, bits } = row;
  if (sha256Of(nativeCrypto, credential) !== row.hash) yield 'its credential has another hash';
  if (!row.isKept) yield 'its credential is not kept as evidence';
  if (!row.isInPlace) yield 'its address is not that of its domain and number';
  if (bits.length * 8 !== row.sizeBits) yield `it has ${bits.length * 8} bits, not ${row.sizeBits}`;
  const list = readOwnList(keys, credential);
  if ('problem' in list) return yield `its credential ${list.problem}`;
  if (list.id !== url) return yield `its credential is that of ${list.id}`;
  if (Date.parse(list.validFrom) !== Number(row.validFromMs))
    yield `its credential is valid from ${list.validFrom}, and it is listed otherwise`;
  const published = decodeBitstring(list.credentialSubject.encodedList);
  if (published === null || !bits.equals(published)) yield 'its credential holds other bits than the list';
}

interface Grant {
  readonly id: string;
  readonly principal: string;
  readonly index: number;
  readonly isRevoked: boolean;
  /** Whether a caller may have been told that the Grant is revoked everywhere. */
  readonly isStamped: boolean;
}

const GRANTS = `
  select id, principal, status_index as index, revocation_recorded_at is not null as "isRevoked",
    revoked_at is not null as "isStamped"
  from grants where status_list_url = $1`;

const checkGrants = async ({ query, report }: CheckContext, row: Row): Promise<void> => {
  const { url, principal, bits, allocated } = row;
  const grants = await query<Grant>(GRANTS, [url]);
  if (grants.length !== allocated)
    report(url, `it has ${grants.length} Grants, and ${allocated} were allocated`);
  const given = new Set<number>();
  for (let ordinal = 0; ordinal < Math.min(allocated, row.sizeBits); ordinal++)
    given.add(permuteIndex(row.permutationKey, row.sizeBits, ordinal));
  const revoked = new Set<number>();
  for (const { id, index, isRevoked, isStamped, ...grant } of grants) {
    if (isRevoked) revoked.add(index);
    if (grant.principal !== principal)
      report(url, `${id} is of ${grant.principal}, and the list of ${principal}`);
    if (!given.has(index)) report(url, `${id} has entry ${index}, which the list never gave out`);
    const isSet = index < bits.length * 8 ? getBit(bits, index) : null;
    // A recorded revocation that is not stamped may still wait until the list is signed; decisions already deny.
    const isExpected = isSet === isRevoked || (isSet === false && !isStamped);
    if (!isExpected) report(url, `${id} is ${isRevoked ? '' : 'not '}revoked, and its bit says otherwise`);
  }
  const set = bits.reduce((count, byte) => count + ones(byte), 0);
  // A list that a restore closed keeps the bits of lost Grants.
  if (set > revoked.size && !row.isClosed)
    report(url, `${set - revoked.size} bits are set that are no Grant's`);
};

const ones = (byte: number): number => byte.toString(2).replaceAll('0', '').length;
