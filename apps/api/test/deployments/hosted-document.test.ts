/** The DID document of a hosted Principal: when it is fetched, how long it is used, and how a wrong one is treated. */
import { generatePrincipalKey } from '@svc/sdk-principal';
import { sampleOf } from '@svc/testkit/sampled';
import { describe, expect, it } from 'vitest';
import { contractCall } from '../world/contract-call.ts';
import { type Hosted, withHostedPrincipal } from '../world/hosted-principal.ts';
import { DID_DOCUMENT, didDocument } from '../world/principal-host.ts';
import { type HeldGrant, issueGrant } from '../world/tenants.ts';

const world = withHostedPrincipal();
const { withNodes, baseUrl, register, publishProof, verifyDomain, ask, verdict, age, storedDocument } = world;

describe('the DID document of a hosted Principal', () => {
  withNodes(2);

  const verified = async (): Promise<{ hosted: Hosted; grant: HeldGrant }> => {
    const hosted = await register();
    publishProof(hosted);
    await verifyDomain(hosted.principalKey);
    const grant = await issueGrant(hosted);
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    return { hosted, grant };
  };

  it('is not fetched again within 5 minutes, but after that', async () => {
    const { hosted, grant } = await verified();
    const before = world.host.asked.length;
    await age('document_resolved_at', '4 minutes 50 seconds');
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    expect(world.host.asked.length).toBe(before);
    await age('document_resolved_at', '5 minutes 1 second');
    const { decision, evaluated_at: evaluatedAt, evidence } = await ask(hosted, grant);
    expect(decision).toBe('ALLOW');
    expect(Date.parse(evidence.issuer_resolution?.resolved_at ?? '')).toBeLessThanOrEqual(
      Date.parse(evaluatedAt),
    );
    expect(world.host.asked.slice(before)).toEqual([DID_DOCUMENT]);
    expect(Date.now() - ((await storedDocument())?.resolved.getTime() ?? 0)).toBeLessThan(60_000);
  });

  it('is in the directory with members that the service does not read', async () => {
    const { hosted, grant } = await verified();
    const document = {
      ...didDocument(world.did, [hosted]),
      service: [{ id: '#s', type: 'Any', serviceEndpoint: 'https://any.example/', priority: 1.5 }],
    };
    world.host.pages.set(DID_DOCUMENT, document);
    await age('document_resolved_at', '6 minutes');
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    const path = `/principals/${encodeURIComponent(world.did)}`;
    const { json } = await contractCall(baseUrl(), 'GET', path, { key: hosted.rpKey });
    expect(json).toMatchObject({ did: world.did, did_document: document });
  });

  it('is fetched once for 20 concurrent verifications', async () => {
    const { hosted, grant } = await verified();
    const before = world.host.asked.length;
    await age('document_resolved_at', '6 minutes');
    // A loaded machine refuses some, which are repeated as the answer asks.
    const settled = async (repeats = 20): Promise<string> => {
      const found = await verdict(hosted, grant);
      return found === 'SERVICE_UNAVAILABLE' && repeats > 0 ? settled(repeats - 1) : found;
    };
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => settled()));
    expect(new Set(verdicts)).toEqual(new Set(['ALLOW']));
    expect(world.host.asked.slice(before)).toEqual([DID_DOCUMENT]);
  });

  it('is used for an hour while the host is down, then the decision is SERVICE_UNAVAILABLE', async () => {
    const { hosted, grant } = await verified();
    world.host.isDown = true;
    await age('document_resolved_at', '59 minutes');
    const receipt = await ask(hosted, grant);
    expect(receipt.decision).toBe('ALLOW');
    const resolvedAt = (await storedDocument())?.resolved.toISOString();
    expect(receipt.evidence.issuer_resolution?.resolved_at).toBe(resolvedAt);
    await age('document_resolved_at', '61 minutes');
    expect(await verdict(hosted, grant)).toBe('SERVICE_UNAVAILABLE');
    world.host.isDown = false;
    await verifyDomain(hosted.principalKey);
    expect(await verdict(hosted, grant)).toBe('ALLOW');
  });

  it('with a date in the future is not used: it is fetched again, and until then the decision is SERVICE_UNAVAILABLE', async () => {
    const { hosted, grant } = await verified();
    await age('document_resolved_at', '-26 hours');
    world.host.isDown = true;
    expect(await verdict(hosted, grant)).toBe('SERVICE_UNAVAILABLE');
    world.host.isDown = false;
    world.host.pages.set(DID_DOCUMENT, didDocument(world.did, []));
    expect(await verdict(hosted, grant, 1)).toBe('ISSUER_KEY_NOT_FOUND');

    world.host.pages.set(DID_DOCUMENT, didDocument(world.did, [hosted]));
    await age('document_resolved_at', '-26 hours');
    await verifyDomain(hosted.principalKey);
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    expect(((await storedDocument())?.resolved.getTime() ?? 0) - Date.now()).toBeLessThan(60_000);
  });

  it('is used up to an hour old when its host does not answer in time; older, the decision is SERVICE_UNAVAILABLE', async () => {
    const { hosted, grant } = await verified();
    let open = () => {};
    world.host.gate = new Promise((resolve) => {
      open = resolve;
    });
    await age('document_resolved_at', '30 minutes');
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    await age('document_resolved_at', '90 minutes');
    expect(await verdict(hosted, grant, 1)).toBe('SERVICE_UNAVAILABLE');
    open();
    // A document that arrived too late for these two is stored for the next.
    while (Date.now() - ((await storedDocument())?.resolved.getTime() ?? 0) > 60_000);
  });

  it('is requested once for five verifications while the host is down', async () => {
    const { hosted, grant } = await verified();
    world.host.isDown = true;
    await age('document_resolved_at', '30 minutes');
    const before = world.host.asked.length;
    for (let i = 0; i < 5; i++) expect(await verdict(hosted, grant)).toBe('ALLOW');
    expect(world.host.asked.slice(before)).toEqual([DID_DOCUMENT]);
  });

  const refused: [string, () => unknown][] = [
    ['another id', () => ({ ...didDocument(world.did, []), id: 'did:web:other.example' })],
    ['no document', () => undefined],
    ['no JSON', () => '{"id":'],
  ];
  it.each(sampleOf(refused, 1))(
    'stays in use until it is an hour old when the host serves %s',
    async (_, page) => {
      const { hosted, grant } = await verified();
      world.host.pages.set(DID_DOCUMENT, page());
      await age('document_resolved_at', '30 minutes');
      expect(await verdict(hosted, grant)).toBe('ALLOW');
      await age('document_resolved_at', '61 minutes');
      expect(await verdict(hosted, grant, 1)).toBe('SERVICE_UNAVAILABLE');
    },
  );

  it('without the key takes effect once it is fetched: ISSUER_KEY_NOT_FOUND on every node, with its bytes as evidence', async () => {
    const { hosted, grant } = await verified();
    const other = (await generatePrincipalKey()).registration;
    const document = didDocument(world.did, [hosted, other]);
    const [, onlyOther] = document.verificationMethod;
    world.host.pages.set(DID_DOCUMENT, {
      ...document,
      verificationMethod: [onlyOther],
      assertionMethod: [`${world.did}#key-2`],
    });
    await age('document_resolved_at', '6 minutes');
    const receipt = await ask(hosted, grant);
    expect(receipt.reason).toBe('ISSUER_KEY_NOT_FOUND');
    expect(await verdict(hosted, grant, 1)).toBe('ISSUER_KEY_NOT_FOUND');
    const hash = receipt.evidence.issuer_resolution?.did_document_hash ?? '';
    const evidence = await contractCall(baseUrl(), 'GET', `/evidence/${hash}`);
    expect(JSON.parse(evidence.text)).toEqual(world.host.pages.get(DID_DOCUMENT));
    const { rows } = await world.sql.query(
      'select kid from principal_keys where principal = $1 order by kid',
      [world.did],
    );
    expect(rows.map(({ kid }) => kid)).toEqual([`${world.did}#key-1`, `${world.did}#key-2`]);
  });
});
