/** A hosted Principal from registration to the proof of its domain. */
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { sampleOf } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { ADMIN_TOKEN } from '../world/api-node.ts';
import { contractCall } from '../world/contract-call.ts';
import { type Hosted, withHostedPrincipal } from '../world/hosted-principal.ts';
import { DID_DOCUMENT, didDocument, PROOF } from '../world/principal-host.ts';
import { createTenants, issueGrant } from '../world/tenants.ts';

const world = withHostedPrincipal();
const {
  withNodes,
  mapEnv,
  baseUrl,
  register,
  publishProof,
  verifyDomain,
  stateAfterVerify,
  verdict,
  restart,
  age,
  storedDocument,
  audited,
} = world;

describe('registration of a hosted Principal', () => {
  withNodes(1);

  it('resolves the DID document at once, and stores its bytes as evidence and its keys', async () => {
    const hosted = await register();
    expect(hosted.registered).toMatchObject({
      did_document_resolved: true,
      verification: { state: 'unverified' },
    });
    const { body } = (await storedDocument()) ?? { body: '' };
    expect(JSON.parse(body)).toEqual(didDocument(world.did, [hosted]));
    const { rows } = await world.sql.query('select kid, state from principal_keys where principal = $1', [
      world.did,
    ]);
    expect(rows).toEqual([{ kid: `${world.did}#key-1`, state: 'active' }]);
  });

  const unusable: [string, unknown][] = [
    ['nothing is published', undefined],
    ['the document is another DID’s', { id: 'did:web:other.example' }],
    ['the document is no JSON', '<html></html>'],
  ];
  it.each(sampleOf(unusable, 2))(
    'succeeds when %s, and says that no document was resolved',
    async (_, page) => {
      if (page !== undefined) world.host.pages.set(DID_DOCUMENT, page);
      const { registered } = await register(false);
      expect(registered.did_document_resolved).toBe(false);
      expect(await storedDocument()).toBeUndefined();
    },
  );
});

describe('a key in the DID document of a hosted Principal', () => {
  withNodes(1);

  const allowed = async () => {
    const hosted = await register();
    publishProof(hosted);
    expect(await stateAfterVerify(hosted.principalKey)).toBe('verified');
    return hosted;
  };
  const publish = async (hosted: Hosted, keys: Parameters<typeof didDocument>[1]) => {
    world.host.pages.set(DID_DOCUMENT, didDocument(world.did, keys));
    await stateAfterVerify(hosted.principalKey);
  };
  const signedAs = (hosted: Hosted, privateJwk: Parameters<typeof signerFromJwk>[0], id: string) => ({
    ...hosted,
    principal: createPrincipalClient({
      baseUrl: baseUrl(),
      apiKey: hosted.principalKey,
      signer: signerFromJwk(privateJwk, `${world.did}#${id}`),
    }),
  });

  it('with other bytes under a known kid is ISSUER_KEY_NOT_FOUND', async () => {
    const hosted = await allowed();
    const other = await generatePrincipalKey();
    await publish(hosted, [{ publicKeyMultibase: other.publicKeyMultibase }]);
    const thief = signedAs(hosted, other.privateJwk, 'key-1');
    expect(await verdict(thief, await issueGrant(thief))).toBe('ISSUER_KEY_NOT_FOUND');
  });

  it('that is compromised stays compromised when it is published under another kid', async () => {
    const hosted = await allowed();
    const stolen = await generatePrincipalKey();
    await publish(hosted, [hosted, { id: 'key-2', publicKeyMultibase: stolen.publicKeyMultibase }]);
    const before = signedAs(hosted, stolen.privateJwk, 'key-2');
    expect(await verdict(before, await issueGrant(before))).toBe('ALLOW');
    await hosted.principal.keys.compromise(`${world.did}#key-2`);
    await publish(hosted, [hosted, { id: 'key-9', publicKeyMultibase: stolen.publicKeyMultibase }]);
    const after = signedAs(hosted, stolen.privateJwk, 'key-9');
    expect(await verdict(after, await issueGrant(after))).toBe('ISSUER_KEY_COMPROMISED');
  });

  it('with a kid in a form that the service does not record is ISSUER_KEY_NOT_FOUND', async () => {
    const hosted = await allowed();
    const planted = await generatePrincipalKey();
    await publish(hosted, [hosted, { id: 'k%65y', publicKeyMultibase: planted.publicKeyMultibase }]);
    const thief = signedAs(hosted, planted.privateJwk, 'k%65y');
    expect(await verdict(thief, await issueGrant(thief))).toBe('ISSUER_KEY_NOT_FOUND');
  });
});

describe('proof of the domain', () => {
  withNodes(2);

  /** Its state in the directory and in its own view, and the status of its decisions. */
  const shown = async ({ principalKey: key }: Hosted) => {
    const ask = (path: string) => contractCall(baseUrl(), 'GET', path, { key });
    const [entry, me] = [await ask(`/principals/${world.did}`), await ask('/me')];
    const { status } = await ask(`/principals/${world.did}/decisions`);
    const states = [entry, me].map(({ json }) => (json.verification as { state: string }).state);
    return [...states, status];
  };

  it('by a well-known document changes decisions from ISSUER_UNVERIFIED to ALLOW on every node', async () => {
    const hosted = await register();
    const grant = await issueGrant(hosted);
    expect(await verdict(hosted, grant)).toBe('ISSUER_UNVERIFIED');
    expect(await stateAfterVerify(hosted.principalKey)).toBe('unverified');
    publishProof(hosted);
    expect(await stateAfterVerify(hosted.principalKey)).toBe('verified');
    expect(await verdict(hosted, grant, 0)).toBe('ALLOW');
    expect(await verdict(hosted, grant, 1)).toBe('ALLOW');
    expect((await audited()).map(({ actor_kind: actor, details }) => [actor, details])).toEqual([
      ['principal', { from: 'unverified', to: 'unverified', outcome: 'absent', did_document: 'resolved' }],
      ['principal', { from: 'unverified', to: 'verified', outcome: 'proven', did_document: 'resolved' }],
    ]);
  });

  it('by a TXT record verifies the Principal', async () => {
    const hosted = await register();
    await restart(
      mapEnv({ [`txt:_svc-challenge.${world.name}`]: ['other', `svc-verification=${hosted.token}`] }),
    );
    expect(await stateAfterVerify(ADMIN_TOKEN)).toBe('verified');
  });

  it('for another DID or with another token leaves the Principal unverified', async () => {
    const hosted = await register();
    for (const page of [
      { did: `${world.did}:other`, token: hosted.token },
      { did: world.did, token: `${hosted.token}x` },
    ]) {
      world.host.pages.set(PROOF, page);
      expect(await stateAfterVerify(ADMIN_TOKEN)).toBe('unverified');
    }
  });

  it('stays valid for 72 h while the host is down, then decisions and reads show unverified', async () => {
    const hosted = await register();
    publishProof(hosted);
    await verifyDomain(ADMIN_TOKEN);
    const grant = await issueGrant(hosted);
    world.host.isDown = true;
    await age('last_proven_at', '71 hours 59 minutes');
    expect(await stateAfterVerify(ADMIN_TOKEN)).toBe('verified');
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    expect(await shown(hosted)).toEqual(['verified', 'verified', 200]);
    await age('last_proven_at', '72 hours 1 minute');
    expect(await verdict(hosted, grant)).toBe('ISSUER_UNVERIFIED');
    expect(await shown(hosted)).toEqual(['unverified', 'unverified', 403]);
    expect(await stateAfterVerify(ADMIN_TOKEN)).toBe('unverified');
    expect((await audited()).at(-1)?.details).toMatchObject({
      from: 'verified',
      to: 'unverified',
      outcome: 'unknown',
    });
  });

  it('is 404 for a Principal of another caller; a managed Principal is verified without a request to a host', async () => {
    const hosted = await register();
    const managed = await createTenants(baseUrl());
    expect((await verifyDomain(managed.principalKey)).status).toBe(404);
    const before = world.host.asked.length;
    const own = `/principals/${managed.principalDid}/verify`;
    const { status, json } = await contractCall(baseUrl(), 'POST', own, { key: managed.principalKey });
    expect([status, json.verification]).toMatchObject([200, { state: 'verified' }]);
    expect(world.host.asked.length).toBe(before);
    const absent = `/principals/did:web:absent.example/verify`;
    expect((await contractCall(baseUrl(), 'POST', absent, { key: hosted.principalKey })).status).toBe(404);
  });
});
