import { nativeSha256 } from '@svc/merkle/native';
import { encodeMultikey } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { closeDay, PublishedDays, recordOf } from '@svc/testkit/receipts/published-days';
import {
  documentOf,
  publicKeyOf,
  SERVICE,
  serviceDocument,
  signerOf,
  statusSigner,
} from '@svc/testkit/receipts/world';
import { beforeEach, describe, expect, it } from 'vitest';
import { leafOfReceipt, parseSignedCheckpoint } from '../index.ts';
import { type Look, lookAtCheckpoints, type MonitorOptions } from './monitor.ts';
import { type MonitorPin, pinDocument, pinKeys } from './pin.ts';
import { formatSeen, parseSeen, type Seen } from './seen.ts';
import { SourceError } from './source.ts';

const pinned = (result: ReturnType<typeof pinDocument>): MonitorPin => {
  if (!result.ok) throw new Error(result.problem);
  return result.pin;
};
const pin = pinned(pinDocument(serviceDocument, undefined, nativeCrypto));

let service: PublishedDays;
let remembered: Seen;
beforeEach(async () => {
  service = new PublishedDays();
  remembered = [];
  for (const size of [3, 0, 1, 300]) await service.close(size);
});

const look = async (changes: Partial<MonitorOptions> = {}): Promise<Look> =>
  lookAtCheckpoints({
    source: service.source(),
    origin: 'https://svc.example',
    pin,
    crypto: nativeCrypto,
    sha256: nativeSha256,
    // The next run knows only what a run has persisted.
    seen: remembered,
    choose: (days) => days,
    since: null,
    nowMs: Math.max(Date.parse('2026-11-15T00:00:00Z'), (service.days.at(-1)?.checkpoint.iat ?? 0) * 1000),
    remember: (seen) => {
      const parsed = parseSeen(formatSeen(seen), pin);
      if (!parsed.ok) throw new Error(parsed.problem);
      remembered = parsed.seen;
    },
    onProgress: () => {},
    stop: new AbortController().signal,
    ...changes,
  });

const statusKey = (seed: number) => ({
  multikey: encodeMultikey(publicKeyOf(seed)),
  purpose: 'status' as const,
});
const WELL = { alarms: [], doubts: [], notes: [] };
const codes = ({ alarms }: Look) => alarms.map(({ code, day }) => `${code} ${day}`);
const dayAt = (i: number) => {
  const day = service.days[i];
  if (day === undefined) throw new Error('no such day');
  return day;
};

describe('the monitor of an honest service', () => {
  it("reports nothing, reads each day's leaves once, and fetches every checkpoint in each look", async () => {
    expect(await look()).toMatchObject({ ...WELL, newDays: 4, fetchedAgain: 0 });
    await service.close(2);
    service.asked.length = 0;
    expect(await look()).toMatchObject({ ...WELL, newDays: 1, fetchedAgain: 4 });
    expect(service.asked.filter((path) => path.endsWith('/leaves'))).toEqual([
      '/checkpoints/2026-11-14/leaves',
    ]);
    expect(await look()).toMatchObject({ ...WELL, newDays: 0, fetchedAgain: 5 });
    expect(remembered.map(({ checkpoint }) => checkpoint.day)).toHaveLength(5);
  });

  it('notes when two days have ended since the latest published day', async () => {
    const at = (time: string) => look({ nowMs: Date.parse(time) });
    expect((await at('2026-11-15T23:59:59Z')).notes).toEqual([]);
    expect((await at('2026-11-16T00:00:00Z')).notes).toEqual([
      '2 days have ended since 2026-11-13, the latest that is published',
    ]);
  });

  it('reports a checkpoint dated in the future as a doubt, does not persist it, and accepts its replacement', async () => {
    const noon = Date.parse('2026-11-13T12:00:00Z');
    const early = await look({ nowMs: noon });
    expect(codes(early)).toEqual([]);
    expect(early.doubts).toEqual([
      { path: '/checkpoints/latest', message: expect.stringContaining('2026-11-13 is dated in the future') },
    ]);
    expect(remembered).toEqual([]);
    const again = new PublishedDays();
    for (const size of [3, 0, 1, 301]) await again.close(size);
    service = again;
    expect(await look()).toMatchObject({ ...WELL, newDays: 4 });
  });

  it('skips a checkpoint dated up to 2 minutes ahead, and accepts it, or its replacement, once its time has come', async () => {
    const iat = service.days[3]?.checkpoint.iat ?? 0;
    expect(await look({ nowMs: iat * 1000 - 120_000 })).toMatchObject({ ...WELL, newDays: 3 });
    const again = new PublishedDays();
    for (const size of [3, 0, 1, 301]) await again.close(size);
    service = again;
    expect(await look({ nowMs: iat * 1000 })).toMatchObject({ ...WELL, newDays: 1, fetchedAgain: 3 });
  });

  it('reports a doubt when the latest day is still dated ahead after the day that follows it has ended', async () => {
    const endMs = Date.parse('2026-11-16T00:00:00Z');
    await service.close(1, { closedAtSeconds: endMs / 1000 + 120 });
    expect(await look({ nowMs: endMs - 1 })).toMatchObject({ ...WELL, newDays: 4 });
    expect(await look({ nowMs: endMs })).toMatchObject({
      doubts: [{ path: '/checkpoints/2026-11-14', message: expect.stringContaining('dated in the future') }],
    });
  });

  it('raises no alarm when a checkpoint dated ahead is retracted during the look', async () => {
    const iat = service.days[3]?.checkpoint.iat ?? 0;
    const latest = recordOf(service.days[3]?.jws ?? '');
    await look({ nowMs: iat * 1000 - 120_000 });
    service.days.pop();
    service.answer('/checkpoints/latest', { status: 200, body: latest });
    expect(await look({ nowMs: iat * 1000 - 120_000 })).toMatchObject({ ...WELL, newDays: 0 });
  });

  it('reports a doubt when a day before the latest is dated ahead, even by 1 second', async () => {
    const endMs = Date.parse('2026-11-16T00:00:00Z');
    await service.close(1, { closedAtSeconds: endMs / 1000 + 2 });
    await service.close(1);
    expect(await look({ since: '2026-11-13', nowMs: endMs + 1_000 })).toMatchObject({
      ...{ alarms: [], newDays: 0 },
      doubts: [{ path: '/checkpoints/2026-11-14', message: expect.stringContaining('dated in the future') }],
    });
  });

  it('reports nothing while no day is closed', async () => {
    service = new PublishedDays();
    expect(await look()).toMatchObject({ ...WELL, newDays: 0 });
  });

  it('starts at the day given as "since"', async () => {
    expect(await look({ since: '2026-11-12' })).toMatchObject({ ...WELL, newDays: 2 });
    expect(remembered[0]?.checkpoint.day).toBe('2026-11-12');
    expect(await look({ since: '2026-12-31' })).toMatchObject({ ...WELL, newDays: 0 });
  });

  it('fetches again only those known days that `choose` selects', async () => {
    await look();
    service.asked.length = 0;
    expect(await look({ choose: (days) => days.slice(1, 2) })).toMatchObject({ ...WELL, fetchedAgain: 1 });
    expect(service.asked).toEqual([
      // First, because the rest may take hours.
      '/.well-known/did.json',
      '/checkpoints/latest',
      '/checkpoints/2026-11-11',
    ]);
  });

  it('accepts pinned keys instead of a DID document, and refuses checkpoints by other keys', async () => {
    const keys = [statusKey(2), { multikey: encodeMultikey(publicKeyOf(1)), purpose: 'receipt' as const }];
    expect(await look({ pin: pinned(pinKeys(keys, SERVICE, nativeCrypto)) })).toMatchObject(WELL);
    const other = pinned(pinKeys([statusKey(5)], undefined, nativeCrypto));
    expect(codes(await look({ pin: other, seen: [] }))).toEqual(['wrong-checkpoint null']);
  });
});

describe('the purpose of a pinned key', () => {
  const keyOf = (seed: number) => encodeMultikey(publicKeyOf(seed));
  /** A checkpoint under the name of a status key, signed with the key of this seed. */
  const checkpointBy = async (seed: number) => {
    const { jws } = await closeDay({
      ...{ day: '2026-11-10', previousRoot: null, size: 1 },
      signer: signerOf(seed, `${SERVICE}#status-1`),
    });
    const parsed = parseSignedCheckpoint(jws);
    if (!parsed.ok) throw new Error('not a checkpoint');
    return parsed;
  };

  it('decides what the key may sign: a checkpoint by the receipt key under the kid of the status key is refused', async () => {
    const pins = [{ multikey: keyOf(1), purpose: 'receipt' as const }, statusKey(2)];
    const byKeys = pinned(pinKeys(pins, SERVICE, nativeCrypto));
    for (const { check } of [byKeys, pin]) {
      expect(check(await checkpointBy(1))).toMatchObject({ code: 'wrong-signature' });
      expect(check(await checkpointBy(2))).toBeNull();
    }
    expect(pinKeys(pins.slice(0, 1), SERVICE, nativeCrypto)).toMatchObject({
      ...{ ok: false, problem: expect.stringContaining('no status key') },
    });
    const twice = pinned(
      pinKeys([...pins, { multikey: keyOf(1), purpose: 'status' }], SERVICE, nativeCrypto),
    );
    expect(twice.check(await checkpointBy(1))).toBeNull();
  });

  it('is reported as one doubt per key when the pin does not state it, and the key still counts', async () => {
    const pin = pinned(pinKeys([keyOf(1), { multikey: keyOf(2) }], SERVICE, nativeCrypto));
    const { alarms, doubts, newDays } = await look({ pin });
    expect([alarms, newDays]).toEqual([[], 4]);
    expect(doubts).toEqual(
      [1, 2].map((seed) => ({
        path: '/checkpoints',
        message: expect.stringMatching(new RegExp(`^${keyOf(seed)} is pinned without its purpose`)),
      })),
    );
  });

  it('is "receipt" or "status"; any other value throws a TypeError', () => {
    const odd = { multikey: keyOf(1), purpose: 'checkpoint' as 'status' };
    expect(() => pinKeys([odd], SERVICE, nativeCrypto)).toThrow(TypeError);
  });
});

describe('for a day seen in an earlier look, the monitor', () => {
  beforeEach(async () => {
    await look();
  });
  const replace = async (i: number, draft: { size?: number; seed?: number }) => {
    const { checkpoint, leaves } = dayAt(i);
    const { day, previous_root: previousRoot } = checkpoint;
    service.days[i] = await closeDay({ day, previousRoot, size: leaves.length, ...draft });
  };

  it.each([
    ['rewritten under another root', 0, { seed: 2 }, 'root'],
    ['rewritten with another size', 0, { size: 4 }, 'tree_size'],
    ['the latest and rewritten under another root', 3, { seed: 2 }, 'root'],
  ])('raises an alarm with both checkpoints when the day is %s', async (_, i, draft, member) => {
    const before = dayAt(i);
    await replace(i, draft);
    const { alarms } = await look();
    expect(alarms).toEqual([
      expect.objectContaining({
        code: 'changed-day',
        day: before.checkpoint.day,
        message: expect.stringContaining(member),
        seen: String(before.checkpoint[member as 'root']),
        now: String(dayAt(i).checkpoint[member as 'root']),
        checkpoints: [before.jws, dayAt(i).jws],
      }),
    ]);
    // The alarm stays until the day has its former checkpoint again.
    expect(codes(await look())).toEqual([`changed-day ${before.checkpoint.day}`]);
    service.days[i] = before;
    expect(await look()).toMatchObject(WELL);
  });

  it('raises an alarm for each changed day when all later days are rewritten too, in an unbroken chain', async () => {
    let previousRoot = dayAt(0).checkpoint.previous_root;
    for (const [i, { checkpoint, leaves }] of service.days.entries()) {
      const seed = i === 0 ? 2 : 1;
      const day = await closeDay({ day: checkpoint.day, previousRoot, size: leaves.length, seed });
      service.days[i] = day;
      previousRoot = day.checkpoint.root;
    }
    // The third day has its former root: only the previous day was rewritten.
    expect(codes(await look())).toEqual(['changed-day 2026-11-10', 'changed-day 2026-11-11']);
  });

  it('raises an alarm when another key of the service has signed it again', async () => {
    const before = dayAt(1);
    const { day, previous_root: previousRoot } = before.checkpoint;
    const signer = signerOf(7, `${SERVICE}#status-2`);
    const wider = pinned(
      pinDocument(documentOf(SERVICE, { 'status-1': 2, 'status-2': 7 }), undefined, nativeCrypto),
    );
    service.days[1] = await closeDay({ day, previousRoot, size: 0, signer });
    const { alarms } = await look({ pin: wider, origin: 'https://status.svc.example' });
    expect(alarms).toMatchObject([{ code: 'changed-day', seen: before.jws, now: dayAt(1).jws }]);
  });

  it('raises an alarm when the day is gone', async () => {
    service.answer('/checkpoints/2026-11-11', { status: 404, body: '{}' });
    expect(codes(await look())).toEqual(['vanished-day 2026-11-11']);
  });

  it('raises an alarm when it was the latest day and is gone, and when all days are gone', async () => {
    service.days.pop();
    expect(codes(await look())).toEqual(['vanished-day 2026-11-13', 'rolled-back 2026-11-13']);
    service.days.length = 0;
    expect(codes(await look())).toContain('rolled-back 2026-11-13');
  });

  it('raises no alarm when a cache names an older day as the latest but all days are there', async () => {
    service.answer('/checkpoints/latest', { status: 200, body: recordOf(dayAt(1).jws) });
    expect(await look()).toMatchObject({ alarms: [], doubts: [{ path: '/checkpoints/latest' }], newDays: 0 });
  });

  it('raises an alarm when /checkpoints/latest shows another checkpoint of the day', async () => {
    const { day, previous_root: previousRoot } = dayAt(3).checkpoint;
    const fork = await closeDay({ day, previousRoot, size: 300, seed: 9 });
    service.answer('/checkpoints/latest', { status: 200, body: recordOf(fork.jws) });
    expect(codes(await look())).toEqual([`changed-day ${day}`]);
  });
});

describe('for a new day, the monitor', () => {
  beforeEach(async () => {
    await look();
  });

  it('raises broken-chain when its checkpoint does not name the root of the day before', async () => {
    await service.close(2, { previousRoot: `sha256:${'0'.repeat(64)}` });
    const { alarms, newDays } = await look();
    expect(newDays).toBe(0);
    expect(alarms).toMatchObject([
      {
        code: 'broken-chain',
        day: '2026-11-14',
        seen: dayAt(3).checkpoint.root,
        now: `sha256:${'0'.repeat(64)}`,
      },
    ]);
  });

  it('raises changed-day when /checkpoints/latest shows another checkpoint of the day', async () => {
    const { day, previous_root: previousRoot } = (await service.close(2)).checkpoint;
    const fork = await closeDay({ day, previousRoot, size: 2, seed: 3 });
    service.answer('/checkpoints/latest', { status: 200, body: recordOf(fork.jws) });
    expect(codes(await look())).toEqual(['changed-day 2026-11-14']);
  });

  it('raises missing-day when the day lies before the latest and is not published', async () => {
    await service.close(1);
    await service.close(1);
    service.answer('/checkpoints/2026-11-14', { status: 404, body: '{}' });
    expect(codes(await look())).toEqual(['missing-day 2026-11-14']);
  });

  it.each([
    ['another key under the kid of the service', { signer: signerOf(5, statusSigner.kid) }],
    ['a kid that is not pinned', { signer: signerOf(2, `${SERVICE}#status-9`) }],
    [
      'another service',
      { signer: signerOf(2, 'did:web:other.example#status-1'), serviceDid: 'did:web:other.example' },
    ],
  ])('raises wrong-checkpoint when its checkpoint is signed by %s', async (_, draft) => {
    await service.close(1, draft);
    const { alarms } = await look();
    expect(alarms).toMatchObject([{ code: 'wrong-checkpoint', day: null, now: dayAt(4).jws }]);
  });

  it('raises wrong-checkpoint when the answer is of another day, or its record differs from the signed checkpoint', async () => {
    await service.close(1);
    await service.close(1);
    service.answer('/checkpoints/2026-11-14', { status: 200, body: recordOf(dayAt(5).jws) });
    expect(codes(await look())).toEqual(['wrong-checkpoint 2026-11-14']);
    const record = recordOf(dayAt(4).jws).replace('"tree_size":1', '"tree_size":2');
    service.answer('/checkpoints/2026-11-14', { status: 200, body: record });
    expect(codes(await look())).toEqual(['wrong-checkpoint 2026-11-14']);
  });
});

describe('when the monitor reads the leaves of a day,', () => {
  const path = '/checkpoints/2026-11-13/leaves';
  const lines = () => dayAt(3).leaves.map((leaf) => `${leaf}\n`);
  const other = formatLeaf('drc_01M7VZGC008Q2R7V9X1C4E6H8K');
  const swap = ([first = '', second = '', ...rest]: string[]) => [second, first, ...rest];

  it.each<readonly [string, (leaves: string[]) => string, string]>([
    ['one missing', (all) => all.slice(1).join(''), '299'],
    ['one too many', (all) => [...all, `${other}\n`].join(''), 'more of them'],
    [
      'one replaced',
      (all) => [...all.slice(0, 7), `${other}\n`, ...all.slice(8)].join(''),
      'leaves with root',
    ],
    ['two in the wrong order', (all) => swap(all).join(''), 'leaves with root'],
    ['cut off within a line', (all) => all.join('').slice(0, -10), 'a line cut off after 299 leaves'],
    ['without the last line break', (all) => all.join('').slice(0, -1), 'a line cut off'],
    ['none', () => '', '0'],
    ['in capitals', (all) => all.join('').toUpperCase(), 'another line after 0 leaves'],
    ['with another line break', (all) => all.join('').replaceAll('\n', '\r\n'), 'another line after 0'],
    ['a page of HTML', () => '<!doctype html>'.repeat(100), 'another line after 0 leaves'],
  ])(
    'leaves that are wrong (%s) raise the alarm in every look until they are right',
    async (_, change, found) => {
      service.answer(path, { status: 200, body: change(lines()) });
      for (const _look of [1, 2]) {
        const { alarms } = await look();
        expect(alarms).toMatchObject([
          { code: 'wrong-leaves', day: '2026-11-13', checkpoints: [dayAt(3).jws] },
        ]);
        expect(alarms[0]?.now).toContain(found);
      }
      // Its checkpoint is persisted all the same, because it was signed.
      expect(remembered).toHaveLength(4);
      service.answer(path, null);
      expect(await look()).toMatchObject(WELL);
    },
  );

  it('the smallest day is read first, so that no day keeps a smaller one from being read in time', async () => {
    await look();
    const days = service.asked.filter((path) => path.endsWith('/leaves'));
    expect(days.map((path) => path.slice(-17, -7))).toEqual([
      ...['2026-11-11', '2026-11-12', '2026-11-10', '2026-11-13'],
    ]);
  });

  it('an endless list of leaves is read only one leaf beyond the signed size', async () => {
    let read = 0;
    async function* endless() {
      for (;;) {
        read += 1;
        yield Buffer.from(`${other}\n`);
      }
    }
    service.answer(path, { status: 200, body: endless });
    expect(codes(await look())).toEqual(['wrong-leaves 2026-11-13']);
    expect(read).toBe(301);
  });

  it('an endless line raises wrong-leaves', async () => {
    async function* endless() {
      for (;;) yield Buffer.alloc(1_000, 'a');
    }
    service.answer(path, { status: 200, body: endless });
    expect(codes(await look())).toEqual(['wrong-leaves 2026-11-13']);
  });

  it('a connection that breaks off causes a doubt, and the leaves are fetched again in the next look', async () => {
    async function* broken() {
      yield Buffer.from(lines().slice(0, 5).join(''));
      throw new SourceError('the connection was lost');
    }
    service.answer(path, { status: 200, body: broken });
    expect(await look()).toMatchObject({
      alarms: [],
      doubts: [{ path, message: 'the connection was lost' }],
      newDays: 4,
    });
    service.answer(path, null);
    expect(await look()).toMatchObject({ ...WELL, newDays: 0 });
  });

  it('the first and the last leaf must be those of the Receipts that the checkpoint names', async () => {
    // As many leaves as the size says, under a root that the service signed for others.
    await service.close(5, { seed: 4 });
    const { checkpoint } = dayAt(4);
    const forged = { ...checkpoint, first_receipt_id: dayAt(4).checkpoint.last_receipt_id };
    expect(forged.first_receipt_id).not.toBe(checkpoint.first_receipt_id);
    const { checkLeaves } = await import('./leaves.ts');
    expect(await checkLeaves(service.source(), checkpoint, nativeSha256)).toEqual({ kind: 'whole' });
    expect(await checkLeaves(service.source(), forged, nativeSha256)).toMatchObject({ kind: 'wrong' });
  });
});

function formatLeaf(receiptId: string): string {
  return Buffer.from(leafOfReceipt(receiptId)).toString('hex');
}

describe('when an answer cannot be read, the monitor', () => {
  it.each([
    ['a 500', { status: 500, body: '{"error":"INTERNAL"}' }],
    ['a 503', { status: 503, body: '' }],
    ['no JSON', { status: 200, body: '<html>Sign in to the hotel network</html>' }],
    ['JSON that is no checkpoint', { status: 200, body: '{"ok":true}' }],
    ['an array', { status: 200, body: '[]' }],
  ])('reports doubts, raises no alarm and keeps its state: %s', async (_, served) => {
    await look();
    for (const path of ['/checkpoints/latest', '/checkpoints/2026-11-11']) service.answer(path, served);
    const { alarms, doubts } = await look();
    expect(alarms).toEqual([]);
    expect(doubts.map(({ path }) => path)).toEqual(['/checkpoints/latest', '/checkpoints/2026-11-11']);
    expect(remembered).toHaveLength(4);
  });

  it('still raises the alarm for another day', async () => {
    await look();
    service.answer('/checkpoints/2026-11-10', { status: 500, body: '' });
    service.answer('/checkpoints/2026-11-11', { status: 404, body: '' });
    const { alarms, doubts } = await look();
    expect([alarms.length, doubts.length]).toEqual([1, 1]);
  });

  it('reports one doubt, raises no alarm and fetches nothing when it is stopped before the first request', async () => {
    await look();
    service.asked.length = 0;
    const { alarms, doubts } = await look({ stop: AbortSignal.abort() });
    expect([alarms, doubts.length, service.asked]).toEqual([[], 1, []]);
  });
});

it('a look that could compare nothing with the pin reports a doubt that names both services', async () => {
  service = new PublishedDays();
  const other = { origin: 'https://another.example:8443' };
  const held = 'nothing was held against the pin: it';
  const names = `${held} is of ${SERVICE}, whose DID document is not asked for at another address: another.example:8443 would be did:web:another.example%3A8443`;
  expect(await look(other)).toMatchObject({
    ...{ latest: 'absent', doubts: [{ message: `no day is closed, and ${names}` }] },
  });
  expect(await look({ origin: 'http://[::1]:80' })).toMatchObject({
    doubts: [
      {
        message: expect.stringContaining(
          `${held} is of ${SERVICE}, whose DID document is not asked for at another address: no did:web DID is of [::1]`,
        ),
      },
    ],
  });
  const keys = pinned(pinKeys([statusKey(2)], undefined, nativeCrypto));
  expect(await look({ pin: keys })).toMatchObject({
    doubts: [{ message: expect.stringContaining(`${held} names no service`) }],
  });
  service.answer('/checkpoints/latest', { status: 503, body: '' });
  const { latest, doubts } = await look(other);
  expect([latest, doubts.map(({ message }) => message)]).toEqual(['unknown', ['it answered 503', names]]);
  service.answer('/checkpoints/latest', null);
  await service.close(1);
  expect((await look(other)).doubts).toEqual([]);
});

describe('for the published DID document, the monitor', () => {
  const serveKeys = (keys: Record<string, number>) =>
    service.answer('/.well-known/did.json', { status: 200, body: JSON.stringify(documentOf(SERVICE, keys)) });
  const KEYS = { 'receipt-1': 6, 'receipt-2': 1, 'status-1': 2 };

  it('raises changed-key when a pinned kid has another key, or a pinned key is missing', async () => {
    serveKeys({ ...KEYS, 'status-1': 5 });
    const { alarms } = await look();
    expect(alarms).toMatchObject([
      { code: 'changed-key', seen: encodeMultikey(publicKeyOf(2)), now: encodeMultikey(publicKeyOf(5)) },
    ]);
    serveKeys({ 'receipt-1': 6, 'status-1': 2 });
    expect((await look()).alarms).toMatchObject([{ code: 'changed-key', now: null }]);
    const keys = pinned(pinKeys([encodeMultikey(publicKeyOf(2))], undefined, nativeCrypto));
    serveKeys({ ...KEYS, 'status-1': 5 });
    expect((await look({ pin: keys })).alarms).toMatchObject([{ code: 'changed-key', now: null }]);
  });

  it('raises changed-key when a pinned status key is published as a receipt key only', async () => {
    const keys = pinned(pinKeys([statusKey(2)], undefined, nativeCrypto));
    serveKeys({ ...KEYS, 'status-1': 5, 'receipt-3': 2 });
    expect((await look({ pin: keys })).alarms).toMatchObject([
      { code: 'changed-key', message: expect.stringContaining('as a status key'), now: null },
    ]);
    const asReceiptKey = { ...statusKey(7), purpose: 'receipt' as const };
    const both = pinned(pinKeys([statusKey(2), asReceiptKey], undefined, nativeCrypto));
    serveKeys({ ...KEYS, 'receipt-3': 7, 'status-2': 7 });
    expect((await look({ pin: both })).notes).toEqual([expect.stringContaining(`${SERVICE}#status-2`)]);
  });

  it('notes a further key, and refuses checkpoints signed with it', async () => {
    serveKeys({ ...KEYS, 'status-2': 7 });
    const { alarms, notes } = await look();
    expect([alarms, notes.length]).toEqual([[], 1]);
    expect(notes[0]).toContain(`${SERVICE}#status-2`);
    await service.close(1, { signer: signerOf(7, `${SERVICE}#status-2`) });
    expect((await look()).alarms).toMatchObject([{ code: 'wrong-checkpoint' }]);
  });

  it('reports a doubt for a pinned status key published as compromised until this is pinned, and notes an end of it', async () => {
    const statusAs = (more: object) => {
      const document = documentOf(SERVICE, KEYS);
      const verificationMethod = document.verificationMethod.map((method) =>
        method.id === `${SERVICE}#status-1` ? { ...method, ...more } : method,
      );
      const body = JSON.stringify({ ...document, verificationMethod });
      service.answer('/.well-known/did.json', { status: 200, body });
      return pinned(pinDocument(body, undefined, nativeCrypto));
    };
    const end = '2026-11-20T00:00:00.000Z';
    const alone = pinned(pinKeys([statusKey(2)], SERVICE, nativeCrypto));
    const timed = pinned(
      pinKeys([{ ...statusKey(2), validFrom: null, validUntil: end }], SERVICE, nativeCrypto),
    );
    await look();
    const ended = statusAs({ 'svc:validUntil': end });
    for (const early of [pin, alone])
      expect(await look({ pin: early })).toMatchObject({
        ...{
          alarms: [],
          doubts: [],
          notes: [expect.stringContaining(`is published as in force until ${end}`)],
        },
      });
    for (const right of [ended, timed]) expect(await look({ pin: right })).toMatchObject(WELL);
    const leaked = statusAs({ 'svc:validUntil': end, revoked: '2026-11-19T00:00:00Z' });
    for (const early of [pin, alone, ended])
      expect(await look({ pin: early })).toMatchObject({
        ...{ alarms: [], notes: [], newDays: 0 },
        doubts: [
          { path: '/.well-known/did.json', message: expect.stringContaining('is published as compromised') },
        ],
      });
    for (const right of [leaked, timed]) expect(await look({ pin: right })).toMatchObject(WELL);
    statusAs({});
    expect(await look({ pin: ended })).toMatchObject(WELL);
  });

  it('fetches it only from the host of the DID, and reports a doubt when it cannot be read', async () => {
    await look({ origin: 'https://status.svc.example' });
    expect(service.asked).not.toContain('/.well-known/did.json');
    service.answer('/.well-known/did.json', { status: 200, body: 'no' });
    expect(await look()).toMatchObject({ alarms: [], doubts: [{ path: '/.well-known/did.json' }] });
  });
});

describe('after a status key has leaked', () => {
  const former = statusKey(2);
  const next = statusKey(7);
  const signer = signerOf(7, `${SERVICE}#status-2`);
  const document = documentOf(SERVICE, { 'receipt-1': 6, 'receipt-2': 1, 'status-1': 2, 'status-2': 7 });
  const marked = {
    ...document,
    verificationMethod: document.verificationMethod.map((method) =>
      method.id === `${SERVICE}#status-1` ? { ...method, revoked: '2026-11-14T12:00:00Z' } : method,
    ),
  };
  const timed = { ...former, validFrom: null, validUntil: '2026-11-14T12:00:00Z' };
  const pins: [string, MonitorPin][] = [
    ['the document that says so', pinned(pinDocument(marked, undefined, nativeCrypto))],
    ['the new key and the former with its end', pinned(pinKeys([timed, next], SERVICE, nativeCrypto))],
  ];
  /** The state of earlier runs, read again under another pin. */
  const readUnder = (newPin: MonitorPin) => {
    const parsed = parseSeen(formatSeen(remembered), newPin);
    if (!parsed.ok) throw new Error(parsed.problem);
    const remember = (seen: Seen) => {
      remembered = seen;
    };
    return { pin: newPin, seen: parsed.seen, remember };
  };
  beforeEach(async () => {
    await look();
    service.answer('/.well-known/did.json', { status: 200, body: JSON.stringify(marked) });
  });

  it.each(pins)(
    'days seen before remain accepted, and new days under the new key are accepted, under %s',
    async (_, newPin) => {
      expect(await look(readUnder(newPin))).toMatchObject({ ...WELL, newDays: 0, fetchedAgain: 4 });
      await service.close(2, { signer });
      expect(await look(readUnder(newPin))).toMatchObject({ ...WELL, newDays: 1, fetchedAgain: 4 });
    },
  );

  it.each(pins)(
    'a new day signed by the leaked key, and a replacement of a known day, raise an alarm under %s',
    async (_, newPin) => {
      const before = dayAt(3);
      const { day, previous_root: previousRoot } = before.checkpoint;
      service.days[3] = await closeDay({ day, previousRoot, size: 300, seed: 2 });
      expect((await look(readUnder(newPin))).alarms).toContainEqual(
        expect.objectContaining({ day, checkpoints: expect.arrayContaining([before.jws]) }),
      );
      service.days[3] = before;
      await service.close(2);
      expect((await look(readUnder(newPin))).alarms).toMatchObject([{ code: 'wrong-checkpoint' }]);
    },
  );

  it('a state cannot be read under a pin without the key that signed its days', () => {
    const without = pinned(pinKeys([next], SERVICE, nativeCrypto));
    expect(parseSeen(formatSeen(remembered), without)).toMatchObject({
      ...{ ok: false, problem: expect.stringContaining('no pinned key has signed it') },
    });
  });
});

describe('the persisted state of the monitor', () => {
  beforeEach(async () => {
    await look();
  });

  it.each<readonly [string, (text: string) => string, string]>([
    ['cut off', (text) => text.slice(0, -20), 'not JSON'],
    ['empty', () => '', 'not JSON'],
    ['of another format', (text) => text.replace('monitor/1', 'monitor/2'), 'not of the form'],
    ['missing a day', (text) => text.replace(/.*2026-11-11.*\n/, ''), 'no chain'],
    [
      'with a day under another name',
      (text) => text.replace('"day":"2026-11-11"', '"day":"2026-11-19"'),
      'is of',
    ],
    [
      'with a signature changed',
      (text) => text.replace(/(.{10})"\}\n\]/, 'AAAAAAAAAA"}\n]'),
      'checkpoint of',
    ],
    ['with an entry that is not a day', (text) => text.replace('"days":[', '"days":[7,'), 'is no day'],
  ])('is refused: %s', (_, change, problem) => {
    const text = formatSeen(remembered);
    expect(parseSeen(text, pin).ok).toBe(true);
    const parsed = parseSeen(change(text), pin);
    expect(parsed).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
  });
});
