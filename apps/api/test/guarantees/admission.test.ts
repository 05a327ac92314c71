/** The limit of verifications is learned only from answers that measure the service (decision 38). */
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { afterEach, expect, it, vi } from 'vitest';
import { Admission, type Leaving } from '../../src/http/admission.ts';
import { contractFetch } from '../world/contract-call.ts';
import { randomSlug, withDeployment } from '../world/deployment.ts';
import { ACTION, issueGrant, type Tenants, verifyBody } from '../world/tenants.ts';

const deployment = withDeployment();
afterEach(() => vi.restoreAllMocks());

/** Records what the admission gate is told at the end of each verification. */
const listen = (): readonly Leaving[] => {
  const heard: Leaving[] = [];
  const { enter } = Admission.prototype;
  vi.spyOn(Admission.prototype, 'enter').mockImplementation(function (this: Admission, ...entering) {
    const leave = enter.apply(this, entering);
    return (nowMs, leaving) => {
      if (leaving !== undefined) heard.push(leaving);
      leave(nowMs, leaving);
    };
  });
  return heard;
};

/** Its domain is proven. Its document was never fetched, so each verification requests it. */
const createHosted = async (): Promise<Tenants> => {
  const managed = await deployment.createTenants();
  const did = `did:web:${randomSlug('silent')}.example`;
  const { key: apiKey } = await deployment.register('/principals', { kind: 'hosted', did });
  await deployment.sql.query(
    `update principals set verification_state = 'verified', verified_since = now(), last_checked_at = now(),
       last_proven_at = now() where did = $1`,
    [did],
  );
  const { privateJwk } = await generatePrincipalKey();
  const signer = signerFromJwk(privateJwk, `${did}#key-1`);
  const { baseUrl } = deployment.process;
  const principal = createPrincipalClient({ baseUrl, apiKey, signer, fetch: contractFetch });
  return { ...managed, principalDid: did, principalKey: apiKey, principal };
};

type Body = Awaited<ReturnType<typeof verifyBody>>;

const evaluationOf = (tenants: Tenants, { grant, proof }: Body) => ({
  subject: { type: 'agent', id: tenants.agent.did, properties: { grant, proof } },
  action: { name: ACTION.type, properties: { amount: ACTION.amount, currency: ACTION.currency } },
  resource: { type: 'order', id: ACTION.resource },
});

/** Each endpoint that decides, and the body with which it is asked. */
const WAYS: readonly (readonly [string, (tenants: Tenants, body: Body) => object])[] = [
  ['/verify', (_, body) => body],
  ['/access/v1/evaluation', evaluationOf],
  ['/access/v1/evaluations', evaluationOf],
  ['/access/v1/evaluations', (tenants, body) => ({ evaluations: [evaluationOf(tenants, body)] })],
  ['/verify/dry-run', (_, body) => body],
];

/** Asks at each of them, about a Grant of another Principal each: a host that has just failed is not waited for. */
const askEachWay = async (create: () => Promise<Tenants>): Promise<void> => {
  for (const [path, bodyOf] of WAYS) {
    const tenants = await create();
    const body = await verifyBody(tenants, await issueGrant(tenants));
    await deployment.call('POST', path, { key: tenants.rpKey, body: bodyOf(tenants, body) });
  }
};

it('a verification that waits for the host of a Principal is no latency sample for the admission limit, on every endpoint', async () => {
  const heard = listen();
  const told = () => heard.map(({ isSample, hasStored, decisions }) => ({ isSample, hasStored, decisions }));
  const toldOf = (isSample: boolean) => [
    ...Array(4).fill({ isSample, hasStored: true, decisions: 1 }),
    { isSample, hasStored: false, decisions: 1 },
  ];
  await askEachWay(() => deployment.createTenants());
  expect(told()).toEqual(toldOf(true));
  await askEachWay(createHosted);
  expect(told().slice(5)).toEqual(toldOf(false));
});
