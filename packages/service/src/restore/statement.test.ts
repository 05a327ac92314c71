import { generateKeyPairSync } from 'node:crypto';
import type { DidWeb } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { verifyRestoreStatement } from '@svc/transparency';
import { expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { type KeySet, parseKeySet } from '../service-keys/key-set.ts';
import { buildServiceDidDocument } from '../service-keys/service-identity.ts';
import { signRestoreStatement } from './statement.ts';

const DID = 'did:web:svc.example' as DidWeb;
const keysOf = (purpose: 'receipt' | 'status'): KeySet => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  return parseKeySet({ keys: [{ ...jwk, kid: `${purpose}-1` }] }, purpose, DID);
};
const identity = { did: DID, receiptKeys: keysOf('receipt'), statusKeys: keysOf('status'), formers: [] };
const lostUntilMs = Date.parse('2026-11-20T10:20:10Z');

it.each([
  ['after', 2_000],
  // Like a statement that is signed at once after the operator has named the lost span.
  ['shortly before', -10_000],
  ['long before, by the clock of the restored database,', -3_600_000],
])('a restore statement that is signed %s the end of the lost span verifies', async (_, afterMs) => {
  const deps = { identity, crypto: nativeCrypto, clock: { nowMs: () => lostUntilMs + afterMs } };
  const statement = await signRestoreStatement(deps as unknown as ServiceDeps, {
    ...{ epoch: 1, lostFromMs: lostUntilMs - 60_000, lostUntilMs, quarantinedUntilMs: lostUntilMs + 313_000 },
    ...{ reinstatedDays: [], revokedAgain: 0, previous: null },
  });
  const verified = verifyRestoreStatement({
    statement,
    serviceDidDocument: buildServiceDidDocument(identity),
  });
  // It is not dated later than readers require, because its key may end before that time.
  const iat = (lostUntilMs + Math.max(afterMs, -300_000)) / 1_000;
  expect(verified).toMatchObject({ ok: true, statement: { iat } });
});
