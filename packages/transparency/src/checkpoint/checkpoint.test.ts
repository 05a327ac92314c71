import { formatHash, parseHash } from '@svc/merkle';
import { encodeBase64url, encodeBase64urlText, type JsonObject, jcs, signCompactJws } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { describe, expect, it } from 'vitest';
import {
  close,
  closeDays,
  documentWith,
  KID,
  receiptsOf,
  SERVICE,
  serviceDocument,
  signerOf,
} from '../../test/service.ts';
import {
  buildCheckpoint,
  CHECKPOINT_TYP,
  type Checkpoint,
  dayAfter,
  dayOfReceipt,
  findChainBreak,
  findCheckpointDifference,
  isDay,
  leafOfReceipt,
  parseCheckpoint,
  parseSignedCheckpoint,
  signCheckpoint,
  verifyCheckpoint,
} from '../index.ts';

const DAY = '2026-11-19';
const signer = signerOf(2);
const receipts = receiptsOf(DAY, 5);
const [yesterday, today] = closeDays('2026-11-18', [3, 5]) as [Checkpoint, Checkpoint];
const verify = (checkpoint: string, serviceDid = SERVICE) =>
  verifyCheckpoint({ checkpoint, serviceDidDocument: serviceDocument, serviceDid, crypto: nativeCrypto });
const codesOf = (result: ReturnType<typeof verify> | ReturnType<typeof parseCheckpoint>) =>
  result.ok ? [] : result.failures.map(({ code, path }) => (path === undefined ? code : `${code} ${path}`));
const signAnything = (payload: JsonObject | string, by = signer, typ: string = CHECKPOINT_TYP) =>
  signCompactJws(by, { typ }, payload);

describe('a signed checkpoint', () => {
  it('is verified, and the result is the checkpoint that was signed', async () => {
    for (const checkpoint of [yesterday, today, close(DAY, [], null)])
      expect(verify(await signCheckpoint(checkpoint, signer))).toEqual({ ok: true, checkpoint, kid: KID });
    expect(
      verifyCheckpoint({
        checkpoint: await signCheckpoint(today, signer),
        serviceDidDocument: JSON.stringify(serviceDocument),
      }),
    ).toMatchObject({ ok: true });
  });

  it('has its header and payload in RFC 8785 form; any other form is refused', async () => {
    const jws = await signCheckpoint(today, signer);
    const [header, payload] = jws.split('.').map((part) => Buffer.from(part, 'base64url').toString());
    expect(header).toBe(`{"alg":"EdDSA","kid":"${KID}","typ":"svc-checkpoint+jwt"}`);
    expect(payload).toBe(jcs({ ...today }));
    expect(JSON.stringify(today)).toBe(payload);
    expect(codesOf(verify(await signAnything(JSON.stringify(today, null, 1))))).toEqual([
      'payload-not-canonical',
    ]);
    const { day, ...others } = today;
    expect(codesOf(verify(await signAnything(JSON.stringify({ ...others, day }))))).toEqual([
      'payload-not-canonical',
    ]);
  });

  it('is refused after any bit of it is flipped', async () => {
    const jws = await signCheckpoint(today, signer);
    const bytes = Buffer.from(jws);
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      if (verify(flipped.toString('latin1')).ok) expect.fail(`bit ${bit}`);
    }
  });

  it('is accepted only under a usable status key in the document of the named service', async () => {
    expect(codesOf(verify(await signCheckpoint(today, signerOf(3))))).toEqual(['wrong-signature']);
    expect(codesOf(verify(await signCheckpoint(today, signerOf(2, `${SERVICE}#status-2`))))).toEqual([
      'unknown-key',
    ]);
    const jws = await signCheckpoint(today, signer);
    expect(codesOf(verify(jws, 'did:web:other.example'))).toEqual(['wrong-service']);
    const weak = verifyCheckpoint({
      ...{ checkpoint: jws, crypto: nativeCrypto },
      serviceDidDocument: documentWith({ 'status-1': { publicKey: new Uint8Array(32) } }),
    });
    expect(codesOf(weak)).toEqual(['unusable-key']);
  });

  it.each([
    ['a Receipt key', `${SERVICE}#receipt-1`],
    ['another service', 'did:web:other.example#status-1'],
    ['no number', `${SERVICE}#status-`],
    ['a number with a zero in front', `${SERVICE}#status-01`],
    ['no fragment', SERVICE],
  ])('is refused if its kid is that of %s', async (_, kid) => {
    expect(codesOf(verify(await signCheckpoint(today, signerOf(2, kid))))).toEqual(['wrong-header']);
  });

  it.each(['vc+jwt', 'svc-receipt+jwt', 'svc-proof+jwt', 'JWT', ''])(
    'is refused with the typ %o',
    async (typ) => {
      expect(codesOf(verify(await signAnything({ ...today }, signer, typ)))).toEqual(['wrong-header']);
    },
  );

  it('is refused with another algorithm, a further header member or a missing kid', async () => {
    const payload = encodeBase64urlText(jcs({ ...today }));
    for (const header of [
      { alg: 'none', kid: KID, typ: CHECKPOINT_TYP },
      { alg: 'Ed25519', kid: KID, typ: CHECKPOINT_TYP },
      { alg: 'EdDSA', kid: KID, typ: CHECKPOINT_TYP, crit: ['b64'] },
      { alg: 'EdDSA', typ: CHECKPOINT_TYP },
    ]) {
      const input = `${encodeBase64urlText(jcs(header))}.${payload}`;
      const signature = await signer.sign(Buffer.from(input));
      expect(codesOf(verify(`${input}.${encodeBase64url(signature)}`))).toEqual(['wrong-header']);
    }
  });

  it('is refused without an exception if it is not a well-formed JWS', async () => {
    const jws = await signCheckpoint(today, signer);
    for (const text of ['', 'x', '..', `${jws}=`, `${jws}.x`, ` ${jws}`, jws.slice(0, -1), 'a'.repeat(5000)])
      expect(parseSignedCheckpoint(text)).toMatchObject({ ok: false, failures: [{ code: 'malformed-jws' }] });
  });
});

describe('the content of a checkpoint', () => {
  const parsed = (changes: Record<string, unknown>) => codesOf(parseCheckpoint({ ...today, ...changes }));
  const other = receiptsOf('2026-11-20', 1)[0] ?? '';

  it('is an object with exactly the known members', () => {
    expect(parsed({})).toEqual([]);
    expect(parsed({ note: 1, 'a/b': 1 })).toEqual(['unknown-member /note', 'unknown-member /a~1b']);
    const { tree, ...without } = today;
    expect(codesOf(parseCheckpoint(without))).toEqual(['missing-member /tree']);
    for (const value of [null, [], 'x', 1, undefined])
      expect(codesOf(parseCheckpoint(value))).toEqual(['malformed-member ']);
  });

  it.each<[keyof Checkpoint, unknown[]]>([
    ['iss', ['did:web:', 'did:key:z6Mk', 'svc.example', 'did:web:SVC.example', null]],
    ['day', ['2026-02-29', '2026-13-01', '2026-11-31', '2026-11-9', '2026-11-19T00:00:00Z', '', 20261119]],
    ['tree_size', [-1, 0.5, 2 ** 53, '5', null]],
    ['root', [`sha256:${'A'.repeat(64)}`, 'a'.repeat(64), `sha256:${'a'.repeat(63)}`, null]],
    ['previous_root', ['', `SHA256:${'a'.repeat(64)}`, 0]],
    ['first_receipt_id', ['', other.slice(4), other.toLowerCase(), 1]],
    ['last_receipt_id', ['', `${other}0`, true]],
    ['iat', [-1, 0, 1.5, '1', null]],
    ['tree', ['rfc9162-sha256', '', null]],
  ])('has a well-formed %s', (member, values) => {
    for (const value of values) expect(parsed({ [member]: value })).toEqual([`malformed-member /${member}`]);
  });

  it('is checked completely: every fault is reported, not only the first', () => {
    expect(parsed({ day: 'x', tree: 'y', more: 1 })).toEqual([
      'malformed-member /day',
      'malformed-member /tree',
      'unknown-member /more',
    ]);
  });

  it('names a first and last Receipt within its day and in order', () => {
    expect(parsed({ first_receipt_id: receiptsOf('2026-11-18', 1)[0] })).toEqual([
      'contradiction /first_receipt_id',
    ]);
    expect(parsed({ last_receipt_id: other })).toEqual(['contradiction /last_receipt_id']);
    expect(
      parsed({ first_receipt_id: today.last_receipt_id, last_receipt_id: today.first_receipt_id }),
    ).toEqual(['contradiction /last_receipt_id']);
    expect(parsed({ last_receipt_id: today.first_receipt_id })).toEqual(['contradiction /last_receipt_id']);
  });

  it('has null ids and the root of the empty tree if and only if the day is empty', () => {
    const empty = close(DAY, [], today);
    expect(empty).toMatchObject({ tree_size: 0, first_receipt_id: null, last_receipt_id: null });
    expect(empty.root).toBe('sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
    expect(codesOf(parseCheckpoint({ ...empty, root: today.root }))).toEqual(['contradiction /root']);
    expect(codesOf(parseCheckpoint({ ...empty, first_receipt_id: receipts[0] }))).toEqual([
      'contradiction /first_receipt_id',
    ]);
    expect(parsed({ last_receipt_id: null })).toEqual(['contradiction /last_receipt_id']);
    expect(parsed({ tree_size: 0 })).toEqual([
      'contradiction /first_receipt_id',
      'contradiction /last_receipt_id',
    ]);
  });

  it('has the root that its ids give if they are all of its Receipts', () => {
    const one = close(DAY, receipts.slice(0, 1), null);
    const two = close(DAY, receipts.slice(0, 2), null);
    expect(one.root).toBe(`sha256:${formatHash(leafOfReceipt(receipts[0] ?? ''))}`);
    for (const few of [one, two])
      expect(codesOf(parseCheckpoint({ ...few, root: today.root }))).toEqual(['contradiction /root']);
    expect(codesOf(parseCheckpoint({ ...two, tree_size: 1 }))).toEqual(['contradiction /last_receipt_id']);
  });

  it('is not dated before the end of the day', () => {
    const endOfDay = Date.parse('2026-11-20T00:00:00Z') / 1000;
    expect(parsed({ iat: endOfDay })).toEqual([]);
    expect(parsed({ iat: endOfDay - 1 })).toEqual(['contradiction /iat']);
  });

  it('is checked by buildCheckpoint, which throws a RangeError if it is faulty', () => {
    const draft = {
      ...{ serviceDid: SERVICE, day: DAY, treeSize: 0, root: parseHash('a'.repeat(64)) ?? new Uint8Array() },
      ...{ previousRoot: null, firstReceiptId: null, lastReceiptId: null, closedAtSeconds: today.iat },
    };
    expect(() => buildCheckpoint(draft)).toThrow(RangeError);
    expect(() => buildCheckpoint({ ...draft, day: '2026-02-30' })).toThrow('/day must be a day');
  });
});

describe('the chain of days', () => {
  const chain = closeDays('2026-02-27', [3, 0, 0, 300, 1]);
  const changed = (at: number, changes: Partial<Checkpoint>) =>
    chain.map((checkpoint, i) => (i === at ? { ...checkpoint, ...changes } : checkpoint));

  it('holds for consecutive days, empty ones included, from any day on', () => {
    expect(chain.map(({ day }) => day)).toEqual([
      ...['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02', '2026-03-03'],
    ]);
    expect(chain[0]?.previous_root).toBeNull();
    for (let from = 0; from <= chain.length; from++) expect(findChainBreak(chain.slice(from))).toBeNull();
  });

  it('breaks at the first day with a wrong previous root, a wrong date or another service', () => {
    const root = `sha256:${'0'.repeat(64)}`;
    expect(findChainBreak(changed(1, { root }))).toEqual({
      ...{ day: '2026-03-01', member: 'previous_root', expected: root, got: chain[1]?.root },
    });
    expect(findChainBreak(changed(3, { previous_root: null }))).toMatchObject({
      day: '2026-03-02',
      got: null,
    });
    expect(findChainBreak(chain.toSpliced(2, 1))).toMatchObject({
      ...{ day: '2026-03-02', member: 'day', expected: '2026-03-01' },
    });
    expect(findChainBreak(chain.toReversed())).toMatchObject({ member: 'day' });
    expect(findChainBreak([...chain, ...chain.slice(-1)])).toMatchObject({ member: 'day' });
    expect(findChainBreak(changed(4, { iss: 'did:web:other.example' }))).toMatchObject({ member: 'iss' });
  });

  it('shows no difference between two equal checkpoints, and names the member in which two differ', () => {
    expect(findCheckpointDifference(today, { ...today })).toBeNull();
    for (const member of Object.keys(today) as (keyof Checkpoint)[])
      expect(findCheckpointDifference(today, { ...today, [member]: 'x' })).toEqual({
        ...{ day: member === 'day' ? 'x' : DAY, member, expected: today[member], got: 'x' },
      });
  });
});

describe('days', () => {
  it('are valid dates of the calendar, and dayAfter gives the next one', () => {
    for (const day of ['2026-11-19', '2024-02-29', '2000-02-29', '1970-01-01', '9999-12-31'])
      expect(isDay(day)).toBe(true);
    for (const day of ['2026-02-29', '2100-02-29', '2026-00-01', '2026-01-00', '2026-1-1', '+2026-01-01', ''])
      expect(isDay(day)).toBe(false);
    expect(dayAfter('2024-02-28')).toBe('2024-02-29');
    expect(dayAfter('2026-12-31')).toBe('2027-01-01');
    expect(() => dayAfter('9999-12-31')).toThrow(RangeError);
    expect(() => dayAfter('x')).toThrow(RangeError);
  });

  it('contain a Receipt by the time in its id', () => {
    const [first = ''] = receiptsOf(DAY, 1);
    expect(dayOfReceipt(first)).toBe(DAY);
    expect(dayOfReceipt('drc_01KADJ0ZZZ0000000000000000')).toMatch(/^[0-9]{4}-[0-9]{2}-[0-9]{2}$/);
    for (const id of ['', 'drc_', first.slice(4), `drc_${'8'.repeat(26)}`, `drc_7${'Z'.repeat(25)}`])
      expect(dayOfReceipt(id)).toBeNull();
  });
});
