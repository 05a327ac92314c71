/** A verification is answered when it is due, however little time was left when it began. */
import { nativeCrypto } from '@svc/protocol/native';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { RpCaller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { VERIFY_DEADLINE_MS } from './evaluate.ts';
import { Verifier } from './verify.ts';

const never = () => new Promise<never>(() => {});
const hanging = new Proxy({}, { get: () => never });
const deps = {
  holds: { assertNone: () => {} },
  crypto: nativeCrypto,
  store: { as: () => ({ verify: hanging }), verify: hanging },
  log: { info: () => {}, warn: () => {}, error: () => {} },
} as unknown as ServiceDeps;
const caller = {
  class: 'rp',
  subject: 'did:web:shop.example',
  keyId: 'key',
  relyingParty: { orgId: null, profile: 'svc-base-v1' },
} as unknown as RpCaller;
const action = { type: 'purchase.create', resource: 'r' };

const timeToRefusal = async (leftMs: number): Promise<number> => {
  vi.useFakeTimers().setTimerTickMode('nextTimerAsync');
  onTestFinished(() => void vi.useRealTimers());
  const beganMs = performance.now();
  const verifying = new Verifier(deps, { readAgain: never }).verify(
    caller,
    { grant: 'g', proof: 'p', action },
    { key: 'k', bodyHash: 'h' },
    { answerByMs: beganMs + leftMs },
  );
  await expect(verifying).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  return performance.now() - beganMs;
};

it.each([-1, 0, 200])(
  'a verification that begins %d ms before it is due is refused when it is due, not a whole deadline later',
  async (leftMs) => {
    expect(await timeToRefusal(leftMs)).toBeLessThan(Math.max(0, leftMs) + VERIFY_DEADLINE_MS / 2);
  },
);
