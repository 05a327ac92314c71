import { generateKeyPairSync } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DidWeb } from '@svc/protocol';
import { nativeCrypto } from '@svc/protocol/native';
import { createBitstring, decodeBitstring, getBit, parseStatusListCredential } from '@svc/status-list';
import { expect, it } from 'vitest';
import type { ServiceDeps } from '../deps.ts';
import { parseKeySet } from '../service-keys/key-set.ts';
import { STATUS_LIST_BITS, signRevoked } from './status-list.ts';

const DID = 'did:web:svc.example' as DidWeb;
const jwk = { ...generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }), kid: 'status-1' };
const statusListUrl = 'https://status.svc.example/acme.example/1';
const deps = {
  clock: { nowMs: () => 1_700_000_000_000 },
  crypto: nativeCrypto,
  identity: { did: DID, statusKeys: parseKeySet({ keys: [jwk] }, 'status', DID) },
} as unknown as ServiceDeps;

it('signRevoked lets other work run while it compresses a list, and signs exactly the bits that were set', async () => {
  const lists = new Map([[statusListUrl, { bits: createBitstring(STATUS_LIST_BITS), version: 7 }]]);
  let turns = 0;
  let isSigned = false;
  const count = async () => {
    for (; !isSigned; turns++) await nextTurn();
  };
  const counted = count();
  const grants = [4_711, 0].map((statusIndex) => ({ statusListUrl, statusIndex }));
  const [signed] = await signRevoked(deps, lists, grants).finally(() => {
    isSigned = true;
  });
  const turnsMeanwhile = turns;
  await counted;
  expect(turnsMeanwhile).toBeGreaterThan(0);

  const [, payload = ''] = signed?.credential.split('.') ?? [];
  const content = parseStatusListCredential(JSON.parse(Buffer.from(payload, 'base64url').toString()));
  const bits = decodeBitstring(content?.credentialSubject.encodedList ?? '') ?? new Uint8Array();
  const set = Array.from({ length: STATUS_LIST_BITS }, (_, i) => i).filter((i) => getBit(bits, i));
  expect([set, signed?.version, signed?.bits]).toEqual([[0, 4_711], 7, bits]);
});
