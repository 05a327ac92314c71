/** `POST /keys/{kid}/compromise` (interface §Key states, §States and transitions; protocol §7 T3). */
import { withSession } from '@svc/testkit/store/session';
import { beforeAll, describe, expect, it } from 'vitest';
import { randomSlug, withDeployment } from '../../world/deployment.ts';
import { createKeyedPrincipal, type KeyedPrincipal } from '../../world/keyed-principal.ts';
import { type HeldGrant, issueGrant, receiptOf, type Tenants, verifyBody } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let shop: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  shop = await deployment.createTenants({ orgId });
});

const newPrincipal = (keyCount: number, org?: string) =>
  createKeyedPrincipal(deployment, keyCount, shop, org);
const at = (kids: readonly string[], index: number): string => kids[index] ?? '';

const move = (to: 'retire' | 'compromise', kid: string, key: string, query = '') =>
  deployment.call('POST', `/keys/${encodeURIComponent(kid)}/${to}${query}`, { key });

/** Resolves with ALLOW or the reason of the DENY. */
const verdict = async (tenants: Tenants, grant: HeldGrant): Promise<string> => {
  const body = await verifyBody(tenants, grant);
  const { decision, reason } = receiptOf(
    await deployment.call('POST', '/verify', { key: tenants.rpKey, body }),
  );
  return reason ?? decision;
};

const keysOf = async ({ did }: KeyedPrincipal) => {
  const { json } = await deployment.call('GET', `/principals/${encodeURIComponent(did)}`, {
    key: shop.rpKey,
  });
  return json.keys as readonly { kid: string; state: string; since: string }[];
};
const statesOf = async (principal: KeyedPrincipal) => (await keysOf(principal)).map(({ state }) => state);

const publishedKids = async ({ slug }: KeyedPrincipal): Promise<string[]> => {
  const { json } = await deployment.call('GET', `/org/${slug}/did.json`);
  const methods = json.verificationMethod as readonly { id: string }[];
  expect(json.assertionMethod).toEqual(methods.map(({ id }) => id));
  return methods.map(({ id }) => id);
};

const auditOf = async (kid: string) =>
  (
    await deployment.sql.query(
      'select action, actor_kind, actor_did, details from audit_events where target = $1 order by occurred_at, ctid',
      [kid],
    )
  ).rows;

describe('POST /keys/{kid}/compromise', () => {
  it('denies every Grant of the key at once, old and new, and no Grant of another key', async () => {
    const principal = await newPrincipal(2);
    const [bad, good] = [principal.signingWith(0), principal.signingWith(1)];
    const [badGrant, goodGrant] = [await issueGrant(bad), await issueGrant(good)];
    expect([await verdict(bad, badGrant), await verdict(good, goodGrant)]).toEqual(['ALLOW', 'ALLOW']);
    const { status, json } = await move('compromise', at(principal.kids, 0), principal.key);
    expect([status, json]).toEqual([200, { kid: at(principal.kids, 0), state: 'compromised' }]);
    expect(await verdict(bad, badGrant)).toBe('ISSUER_KEY_COMPROMISED');
    expect(await verdict(bad, await issueGrant(bad))).toBe('ISSUER_KEY_COMPROMISED');
    expect(await verdict(good, goodGrant)).toBe('ALLOW');
  });

  it('leaves the Grants of the key active in GET /grants', async () => {
    const principal = await newPrincipal(1);
    const { grantId } = await issueGrant(principal.signingWith(0));
    await move('compromise', at(principal.kids, 0), principal.key);
    const { json } = await deployment.call('GET', '/grants', { key: principal.key });
    expect(json.grants).toMatchObject([{ id: grantId, state: 'active', revoked_at: null }]);
  });

  it('accepts a retired key, whose old Grants are then denied', async () => {
    const principal = await newPrincipal(1);
    const signer = principal.signingWith(0);
    const grant = await issueGrant(signer);
    await move('retire', at(principal.kids, 0), principal.key);
    const [{ since = '' } = {}] = await keysOf(principal);
    await move('compromise', at(principal.kids, 0), principal.key);
    expect(await verdict(signer, grant)).toBe('ISSUER_KEY_COMPROMISED');
    const [after] = await keysOf(principal);
    expect(after?.state).toBe('compromised');
    expect(Date.parse(after?.since ?? '')).toBeGreaterThanOrEqual(Date.parse(since));
    expect(
      (await auditOf(at(principal.kids, 0))).map(({ action, details }) => [action, details.from]),
    ).toEqual([
      ['key.retire', 'active'],
      ['key.compromise', 'retired'],
    ]);
  });

  it('removes the key from the published document; each earlier document stays available as evidence', async () => {
    const principal = await newPrincipal(3);
    const signer = principal.signingWith(2);
    const receipts = [];
    for (const kid of [null, at(principal.kids, 1), at(principal.kids, 0)]) {
      if (kid !== null) await move('compromise', kid, principal.key);
      const body = await verifyBody(signer, await issueGrant(signer));
      receipts.push(receiptOf(await deployment.call('POST', '/verify', { key: signer.rpKey, body })));
    }
    expect(await publishedKids(principal)).toEqual([at(principal.kids, 2)]);
    const kids = [];
    for (const { decision, evidence } of receipts) {
      expect(decision).toBe('ALLOW');
      const path = `/evidence/${evidence.issuer_resolution?.did_document_hash}`;
      const { json } = await deployment.call('GET', path);
      kids.push((json.verificationMethod as readonly { id: string }[]).map(({ id }) => id));
    }
    expect(kids).toEqual([principal.kids, [0, 2].map((i) => at(principal.kids, i)), [at(principal.kids, 2)]]);
  });

  it('accepts the last key: the document is then empty, and the directory still lists every key', async () => {
    const principal = await newPrincipal(2);
    for (const kid of principal.kids) await move('compromise', kid, principal.key);
    expect(await publishedKids(principal)).toEqual([]);
    expect(await statesOf(principal)).toEqual(['compromised', 'compromised']);
  });

  it('is idempotent for concurrent and later calls: same answer, same time, one audit event', async () => {
    const principal = await newPrincipal(2);
    const kid = at(principal.kids, 0);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => move('compromise', kid, principal.key)),
    );
    const first = await keysOf(principal);
    answers.push(await move('compromise', kid, principal.key));
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(await keysOf(principal)).toEqual(first);
    expect((await auditOf(kid)).map(({ action }) => action)).toEqual(['key.compromise']);
  });

  it('answers a repeat without waiting for locks on the Principal’s row or its barrier', async () => {
    const principal = await newPrincipal(1);
    const kid = at(principal.kids, 0);
    const first = await move('compromise', kid, principal.key);
    await withSession(deployment.databaseUrl, async (session) => {
      await session.query('begin');
      await session.query('select from principals where did = $1 for update', [principal.did]);
      await session.query('select pg_advisory_xact_lock_shared(1, hashtext($1))', [principal.did]);
      const again = await move('compromise', kid, principal.key);
      expect([again.status, again.text]).toEqual([200, first.text]);
      await session.query('rollback');
    });
  });

  it('and /retire succeed for five keys of one Principal at once; the document drops exactly the compromised keys', async () => {
    const principal = await newPrincipal(5);
    const moves = ['compromise', 'retire', 'compromise', 'retire', 'compromise'] as const;
    const answers = await Promise.all(moves.map((to, i) => move(to, at(principal.kids, i), principal.key)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(await statesOf(principal)).toEqual([
      'compromised',
      'retired',
      'compromised',
      'retired',
      'compromised',
    ]);
    expect(await publishedKids(principal)).toEqual([1, 3].map((i) => at(principal.kids, i)));
  });

  it('prevails over concurrent retirements of the same key: it ends compromised', async () => {
    for (let round = 0; round < 10; round++) {
      const principal = await newPrincipal(1);
      const kid = at(principal.kids, 0);
      await Promise.all([
        move('retire', kid, principal.key),
        move('compromise', kid, principal.key),
        move('retire', kid, principal.key),
      ]);
      expect(await statesOf(principal)).toEqual(['compromised']);
      expect(await publishedKids(principal)).toEqual([]);
    }
  });

  it('answers 503 while a decision holds the barrier: the key is denied already, and a repeat completes the call', async () => {
    const principal = await newPrincipal(1);
    const signer = principal.signingWith(0);
    const kid = at(principal.kids, 0);
    const grant = await issueGrant(signer);
    await deployment.whileBarrierIsHeld(principal.did, async () => {
      const { status, json } = await move('compromise', kid, principal.key);
      expect([status, json.error]).toEqual([503, 'SERVICE_UNAVAILABLE']);
      expect(json.message).toMatch(/recorded but not yet visible/);
      expect(await statesOf(principal)).toEqual(['compromised']);
      expect(await verdict(signer, grant)).toBe('ISSUER_KEY_COMPROMISED');
    });
    expect((await move('compromise', kid, principal.key)).status).toBe(200);
    expect(await auditOf(kid)).toHaveLength(1);
  });

  it('changes only the state of a hosted Principal’s key, not its document; an unknown key is 404', async () => {
    const did = `did:web:${randomSlug('h')}.example`;
    const { key } = await deployment.register('/principals', { kind: 'hosted', did });
    const kid = `${did}#signing`;
    await deployment.sql.query(
      'insert into principal_keys (kid, principal, public_key_multibase) values ($1, $2, $3)',
      [kid, did, 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'],
    );
    expect((await move('compromise', kid, key)).json).toEqual({ kid, state: 'compromised' });
    const path = `/principals/${encodeURIComponent(did)}`;
    expect((await deployment.call('GET', path, { key: shop.rpKey })).json).toMatchObject({
      keys: [{ kid, state: 'compromised' }],
      did_document: null,
    });
    // A document may publish it, but the service has never seen it.
    expect((await move('retire', `${did}#other`, key)).status).toBe(404);
  });
});
