/**
 * With a slow signer, such as a token behind PKCS#11: how much of it the callers that ask for attestations use, and how
 * much is left to others.
 */
import { decodeBase64urlText } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { receiptIdsOf } from '@svc/testkit';
import { slowSigner } from '@svc/testkit/slow-signer';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { tenantAt } from '../access/tenant.ts';
import type { CheckpointRecord } from '../ports/checkpoints.ts';
import { createSigningTurns } from '../service-keys/status-signatures.ts';
import { SetSigner } from '../ssf/sign-sets.ts';
import { Attestor } from './attest.ts';

const HOUR_MS = 3_600_000;
const receipts = receiptIdsOf('2026-11-20', 200).map((receiptId) => ({
  receiptId,
  jws: `eyJ.${receiptId}.sig`,
}));
const checkpoint = { hash: 'sha256:one', jws: '' } as unknown as CheckpointRecord;
const unavailable = { code: 'SERVICE_UNAVAILABLE' };

const create = (ms: number, fail?: () => boolean) => {
  const token = slowSigner(ms, fail);
  const turns = createSigningTurns();
  const clock = { nowMs: () => Date.now() };
  const attestor = new Attestor({ identity: token.identity, crypto: nativeCrypto, clock } as never, turns);
  const attest = (i: number, of = checkpoint, address = '192.0.2.1') =>
    attestor.attest(receipts[i] as never, of, tenantAt(address));
  return { ...token, turns, attest };
};
const iatOf = (jws: string): number => JSON.parse(decodeBase64urlText(jws.split('.')[1] ?? '') ?? '').iat;

beforeEach(() => {
  vi.useFakeTimers().setTimerTickMode('nextTimerAsync');
});
afterEach(() => {
  vi.useRealTimers();
});

describe('attestations that anybody can request', () => {
  it('from many addresses leave enough of a slow signer to sign status lists meanwhile', async () => {
    const token = create(25);
    const asked = receipts.map((_, i) => token.attest(i, checkpoint, `192.0.2.${i}`));
    const lists = (async () => {
      for (let i = 0; i < 20; i++) await token.sign();
    })();
    const answers = await Promise.allSettled(asked);
    await lists;
    const given = answers.filter(({ status }) => status === 'fulfilled').length;
    expect(given).toBeGreaterThan(0);
    expect(given).toBeLessThan(answers.length);
    for (const answer of answers)
      if (answer.status === 'rejected') expect(answer.reason).toMatchObject(unavailable);
  });

  it('would leave a status list without a signature if all were signed at once', async () => {
    const { sign } = slowSigner(25);
    const asked = Promise.allSettled(Array.from({ length: 200 }, sign));
    await expect(sign()).rejects.toThrow('within 500 ms');
    await asked;
  });

  it('are signed one at a time, in the same queue as SETs, which get their turn', async () => {
    const token = create(40);
    const { signer } = token.identity.statusKeys;
    let [underWay, most] = [0, 0];
    const sign = async () => {
      underWay += 1;
      most = Math.max(most, underWay);
      return token.sign().finally(() => {
        underWay -= 1;
      });
    };
    Object.assign(token.identity.statusKeys, { signer: { ...signer, sign } });
    const asked = receipts.map((_, i) => token.attest(i, checkpoint, `192.0.2.${i}`));
    const sets = new SetSigner({ identity: token.identity } as never, token.turns);
    const events = ['a', 'b', 'c'].map((eventId) => ({
      ...{ eventId, type: 'decision.deny', occurredAtMs: 0, data: '{}' },
    }));
    const stream = { streamId: 'ssf_1', audience: 'rp did:web:shop.example' };
    const tenant = { crowd: 'tenants', org: 'a', subject: 'a' } as const;
    expect(Object.keys(await sets.sign(events as never, stream as never, tenant))).toHaveLength(3);
    await Promise.allSettled(asked);
    expect(most).toBe(1);
  });

  it('are refused at once if too many wait', async () => {
    const token = create(25);
    const asked = Array.from({ length: 600 }, (_, i) =>
      token.attest(i % 200, { ...checkpoint, hash: `sha256:${i}` } as never),
    );
    const refused = Promise.allSettled(asked);
    await expect(token.attest(0)).rejects.toMatchObject(unavailable);
    expect(token.count()).toBeLessThan(10);
    await refused;
  });
});

describe('an attestation', () => {
  it('is signed once for all requests, and separately for each Receipt and each checkpoint', async () => {
    const token = create(10);
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, i) => token.attest(0, checkpoint, `192.0.2.${i}`)),
    );
    expect(new Set([...all, await token.attest(0)]).size).toBe(1);
    expect(token.count()).toBe(1);
    await token.attest(1);
    await token.attest(0, { ...checkpoint, hash: 'sha256:two' } as never);
    expect(token.count()).toBe(3);
  });

  it('is signed again after an hour, with a new date', async () => {
    vi.setTimerTickMode('manual');
    const token = create(0);
    const sign = vi.fn(async () => new Uint8Array(64));
    Object.assign(token.identity.statusKeys.signer, { sign });
    const first = await token.attest(0);
    await vi.advanceTimersByTimeAsync(HOUR_MS - 5_000);
    expect(await token.attest(0)).toBe(first);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(iatOf(await token.attest(0))).toBeGreaterThanOrEqual(iatOf(first) + HOUR_MS / 1000);
    expect(sign).toHaveBeenCalledTimes(2);
  });

  it('is signed again under another key, and not returned once its key has ended', async () => {
    let hasEnded = false;
    const token = create(0, () => hasEnded);
    const { statusKeys } = token.identity;
    await token.attest(0);
    const own = { kid: statusKeys.signer.kid, time: { fromMs: 0, untilMs: 1, isCompromised: true } };
    Object.assign(statusKeys, { published: [own] });
    hasEnded = true;
    await expect(token.attest(0)).rejects.toThrow('away');
    hasEnded = false;
    Object.assign(statusKeys, { signer: { ...statusKeys.signer, kid: 'did:web:svc.example#status-2' } });
    const header = decodeBase64urlText((await token.attest(0)).split('.')[0] ?? '');
    expect(JSON.parse(header ?? '').kid).toBe('did:web:svc.example#status-2');
    expect(token.count()).toBe(2);
  });

  it('whose signature is late is refused, and then returned to the next request without another signature', async () => {
    vi.setTimerTickMode('manual');
    const token = create(0);
    const late = new Promise<Uint8Array>((resolve) => setTimeout(() => resolve(new Uint8Array(64)), 1_500));
    const sign = vi.fn(() => late);
    Object.assign(token.identity.statusKeys.signer, { sign });
    const refused = expect(token.attest(0)).rejects.toMatchObject(unavailable);
    await vi.advanceTimersByTimeAsync(1_000);
    await refused;
    await vi.advanceTimersByTimeAsync(600);
    await token.attest(0);
    expect(sign).toHaveBeenCalledTimes(1);
  });
});
