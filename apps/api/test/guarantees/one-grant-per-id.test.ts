/**
 * The id of a Grant means one Grant (protocol §7 P6, §10): the holder of a signing key cannot widen what was allowed
 * before.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { withDeployment } from '../world/deployment.ts';
import { createKeyedPrincipal, type KeyedPrincipal, signAnew } from '../world/keyed-principal.ts';
import {
  callUntilSettled,
  type HeldGrant,
  issueGrant,
  receiptOf,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const deployment = withDeployment();
const RACES = 12;
const ASKING = 8;

let principal: KeyedPrincipal;
let tenants: Tenants;

beforeAll(async () => {
  principal = await createKeyedPrincipal(deployment, 2, await deployment.createTenants());
  tenants = principal.signingWith(0);
});

const widen = (grant: HeldGrant, maxAmount = 1_000_000, key = 0) =>
  signAnew(
    principal,
    grant,
    ({ credentialSubject: { capabilities } }) => {
      for (const { constraints } of capabilities) constraints.maxAmount = maxAmount;
    },
    key,
  );

const verify = async (grant: HeldGrant, node: number) => {
  const { baseUrl } = deployment.processes[node % 2] ?? deployment.process;
  const body = await verifyBody(tenants, grant);
  return receiptOf(await callUntilSettled(baseUrl, 'POST', '/verify', { key: tenants.rpKey, body }));
};

describe('after the first ALLOW under an id', () => {
  it('a different Grant is denied at P6 on every node, with any signing key, and the first Grant is still allowed', async () => {
    const grant = await issueGrant(tenants);
    expect((await verify(grant, 0)).decision).toBe('ALLOW');
    for (const other of [await widen(grant), await widen(grant, 1_000_000, 1), await widen(grant, 999)])
      for (const node of [0, 1]) {
        const { reason, protocol, evidence } = await verify(other, node);
        expect([reason, protocol.checks.P6, evidence.status]).toEqual([
          'AUTHORITY_REVOKED',
          false,
          undefined,
        ]);
      }
    for (const node of [0, 1]) expect((await verify(grant, node)).decision).toBe('ALLOW');
  });

  it('the id is bound to the Grant of that ALLOW, not to the Grant of an earlier DENY', async () => {
    const grant = await issueGrant(tenants);
    expect((await verify(await widen(grant, 1), 0)).reason).toBe('AMOUNT_EXCEEDS_AUTHORITY');
    expect((await verify(await widen(grant), 1)).decision).toBe('ALLOW');
    expect((await verify(grant, 0)).reason).toBe('AUTHORITY_REVOKED');
  });
});

it(`in ${RACES} races on two nodes every ALLOW of a Grant id concerns the same Grant`, async () => {
  for (let i = 0; i < RACES; i++) {
    const grant = await issueGrant(tenants);
    const rivals = [grant, await widen(grant)] as const;
    const asked = Array.from({ length: ASKING }, (_, n) => verify(rivals[(n >> 1) % 2] ?? grant, n));
    const receipts = await Promise.all(asked);
    const allowed = receipts.filter(({ decision }) => decision === 'ALLOW');
    expect(new Set(allowed.map(({ grant_hash: hash }) => hash)).size).toBe(1);
    expect(allowed).toHaveLength(ASKING / 2);
    for (const { decision, reason } of receipts)
      expect(reason).toBe(decision === 'ALLOW' ? null : 'AUTHORITY_REVOKED');
  }
});
