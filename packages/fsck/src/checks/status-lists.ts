/**
 * Every status list: the credential that is served is signed by the service, is kept as evidence, and says of each
 * Grant in it whether it is revoked (protocol §9).
 */
import { createHash } from 'node:crypto';
import { parseCompactJws } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { decodeBitstring, getBit, parseStatusListCredential } from '@svc/status-list';
import { type Check, type CheckContext, pages } from '../check.ts';

interface Row {
  readonly url: string;
  readonly bits: Buffer;
  readonly credential: string;
  readonly hash: string;
  readonly isKept: boolean;
  readonly allocated: number;
}

const SQL = `
  select url, bits, credential, credential_hash as hash, next_ordinal as allocated,
    exists (select from evidence e where e.hash = l.credential_hash
      and e.body = convert_to(l.credential, 'UTF8')) as "isKept"
  from status_lists l where url > $1 order by url limit $2`;

const MAX_CHARS = 4_194_304;

export const statusListCheck: Check = {
  name: 'status lists',
  promise: 'every status list is signed by the service and says exactly which of its Grants are revoked',
  countSql: 'select count(*) from status_lists',
  async run(context) {
    for await (const rows of pages<Row>(context, SQL, ({ url }) => url, 20))
      for (const row of rows) {
        for (const problem of problemsOf(context, row)) context.report(row.url, problem);
        await checkBits(context, row);
        context.advance(1);
      }
  },
};

function* problemsOf({ keys }: CheckContext, row: Row): Generator<string> {
  const { url, credential, bits } = row;
  if (`sha256:${createHash('sha256').update(credential).digest('hex')}` !== row.hash)
    yield 'its credential has another hash';
  if (!row.isKept) yield 'its credential is not kept as evidence';
  const jws = parseCompactJws(credential, MAX_CHARS);
  if (!jws.ok) return yield `its credential is no JWS: ${jws.problem}`;
  const { kid, typ } = jws.header;
  const isOurs = typeof kid === 'string' && kid.startsWith(`${keys.serviceDid}#status-`);
  const key = isOurs ? keys.byKid.get(kid) : undefined;
  if (key === undefined || typ !== 'vc+jwt' || !nativeCrypto.verify(key, jws.signingInput, jws.signature))
    return yield 'its credential is not signed by the service';
  const list = parseStatusListCredential(jws.payload);
  if (list === null || list.id !== url || list.issuer !== keys.serviceDid)
    return yield 'its credential is not of this list';
  const published = decodeBitstring(list.credentialSubject.encodedList);
  if (published === null || !bits.equals(published)) yield 'its credential holds other bits than the list';
}

const checkBits = async ({ query, report }: CheckContext, { url, bits, allocated }: Row): Promise<void> => {
  const grants = await query<{ id: string; index: number; isRevoked: boolean }>(
    `select id, status_index as index, revocation_recorded_at is not null as "isRevoked"
     from grants where status_list_url = $1`,
    [url],
  );
  if (grants.length > allocated)
    report(url, `it has ${grants.length} Grants, and ${allocated} were allocated`);
  const revoked = new Set<number>();
  for (const { id, index, isRevoked } of grants) {
    if (isRevoked) revoked.add(index);
    if (index >= bits.length * 8 || getBit(bits, index) !== isRevoked)
      report(url, `${id} is ${isRevoked ? '' : 'not '}revoked, and its bit says otherwise`);
  }
  const set = bits.reduce((count, byte) => count + ones(byte), 0);
  if (set > revoked.size) report(url, `${set - revoked.size} bits are set that are no Grant's`);
};

const ones = (byte: number): number => byte.toString(2).replaceAll('0', '').length;
