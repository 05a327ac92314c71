/**
 * A hosted Principal from registration to the loss of its domain, over real HTTP: its own web server on loopback, two
 * API nodes, PostgreSQL. Time is what the database says it is, so ages are set there instead of waited for.
 */
import { createPrincipalClient, generatePrincipalKey, signerFromJwk } from '@svc/sdk-principal';
import { withDatabase } from '@svc/testkit';
import { sampled } from '@svc/testkit/sampled';
import { Client } from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ADMIN_TOKEN, type ApiNodes, startApiNodes } from '../world/api-node.ts';
import { startApiProcesses } from '../world/api-process.ts';
import { contractCall } from '../world/contract-call.ts';
import { randomSlug } from '../world/deployment.ts';
import {
  DID_DOCUMENT,
  didDocument,
  PROOF,
  type PrincipalHost,
  startPrincipalHost,
} from '../world/principal-host.ts';
import {
  call,
  createTenants,
  type HeldGrant,
  issueGrant,
  receiptOf,
  receiptUnlessRefused,
  type Tenants,
  verifyBody,
} from '../world/tenants.ts';

const database = withDatabase();
let sql: Client;
beforeAll(async () => {
  sql = new Client({ connectionString: database.url });
  await sql.connect();
});
afterAll(() => sql?.end());

let host: PrincipalHost;
let api: ApiNodes;
let name: string;
let did: string;

/** Each test has its own host, name and nodes, so that nothing is remembered of another's. */
const withNodes = (
  count: number,
  start: (...parameters: Parameters<typeof startApiNodes>) => Promise<ApiNodes> = startApiNodes,
): void => {
  beforeEach(async () => {
    host = await startPrincipalHost();
    name = `${randomSlug('host')}.example`;
    did = `did:web:${name}`;
    api = await start(count, database.url, mapEnv());
  });
  afterEach(async () => {
    await api?.stop();
    await host?.close();
  });
};

const mapEnv = (txt: Readonly<Record<string, readonly string[]>> = {}) => ({
  SVC_TRUST_PROXY: '1',
  SVC_OUTBOUND_MAP: JSON.stringify({ [name]: host.url, ...txt }),
});
const baseUrl = (node = 0): string => api.processes[node]?.baseUrl ?? '';

interface Hosted extends Tenants {
  readonly registered: Readonly<Record<string, unknown>>;
  readonly token: string;
  readonly publicKeyMultibase: string;
}

/** Registers it; its host serves the document of one key before that, unless told otherwise. */
const register = async (publish = true): Promise<Hosted> => {
  const others = await createTenants(baseUrl());
  const key = await generatePrincipalKey();
  const { publicKeyMultibase } = key.registration;
  if (publish) host.pages.set(DID_DOCUMENT, didDocument(did, [{ publicKeyMultibase }]));
  const { json, status } = await contractCall(baseUrl(), 'POST', '/principals', {
    key: ADMIN_TOKEN,
    body: { kind: 'hosted', did },
  });
  expect(status).toBe(201);
  const principalKey = String(json.api_key);
  const signer = signerFromJwk(key.privateJwk, `${did}#key-1`);
  const principal = createPrincipalClient({ baseUrl: baseUrl(), apiKey: principalKey, signer });
  const { token } = json.verification as { token: string };
  return {
    ...others,
    principalDid: did,
    principalKey,
    principal,
    registered: json,
    token,
    publicKeyMultibase,
  };
};

const publishProof = ({ token }: Hosted) => host.pages.set(PROOF, { did, token });
const verifyDomain = (key: string, node = 0) =>
  contractCall(baseUrl(node), 'POST', `/principals/${did}/verify`, { key });
const stateAfterVerify = async (key: string, node = 0) => {
  const { status, json } = await verifyDomain(key, node);
  expect(status).toBe(200);
  return (json.verification as { state: string }).state;
};
const ask = async (tenants: Tenants, grant: HeldGrant, node = 0) =>
  receiptOf(
    await contractCall(baseUrl(node), 'POST', '/verify', {
      key: tenants.rpKey,
      body: await verifyBody(tenants, grant),
    }),
  );
/** `ALLOW`, or the reason of the DENY. */
const verdict = async (tenants: Tenants, grant: HeldGrant, node = 0) => {
  const { decision, reason } = await ask(tenants, grant, node);
  return reason ?? decision;
};
/** A new node: nothing of before is remembered. */
const restart = async (env = mapEnv()) => {
  await api.stop();
  api = await startApiNodes(1, database.url, env);
};
const age = (column: 'document_resolved_at' | 'last_proven_at', interval: string) =>
  sql.query(`update principals set ${column} = now() - $2::interval, version = version + 1 where did = $1`, [
    did,
    interval,
  ]);
const storedDocument = async () => {
  const { rows } = await sql.query<{ body: string; resolved: Date }>(
    `select convert_from(e.body, 'UTF8') as body, p.document_resolved_at as resolved
     from principals p join evidence e on e.hash = p.document_hash where p.did = $1`,
    [did],
  );
  return rows[0];
};
const audited = async () => {
  const { rows } = await sql.query(
    `select actor_kind, details from audit_events where action = 'principal.verify' and target = $1 order by event_id`,
    [did],
  );
  return rows as { actor_kind: string; details: Record<string, unknown> }[];
};

describe('registration', () => {
  withNodes(1);

  it('resolves the DID document at once, keeps its bytes as evidence and its keys in the directory', async () => {
    const hosted = await register();
    expect(hosted.registered).toMatchObject({
      did_document_resolved: true,
      verification: { state: 'unverified' },
    });
    const { body } = (await storedDocument()) ?? { body: '' };
    expect(JSON.parse(body)).toEqual(didDocument(did, [hosted]));
    const { rows } = await sql.query('select kid, state from principal_keys where principal = $1', [did]);
    expect(rows).toEqual([{ kid: `${did}#key-1`, state: 'active' }]);
  });

  it.each([
    ['nothing is published', undefined],
    ['the document is another DID’s', { id: 'did:web:other.example' }],
    ['the document is no JSON', '<html></html>'],
  ])('succeeds when %s, and says that no document was resolved', async (_, page) => {
    if (page !== undefined) host.pages.set(DID_DOCUMENT, page);
    const { registered } = await register(false);
    expect(registered.did_document_resolved).toBe(false);
    expect(await storedDocument()).toBeUndefined();
  });
});

describe('a key stands for itself, whatever the document calls it', () => {
  withNodes(1);

  const allowed = async () => {
    const hosted = await register();
    publishProof(hosted);
    expect(await stateAfterVerify(hosted.principalKey)).toBe('verified');
    return hosted;
  };
  const publish = async (hosted: Hosted, keys: Parameters<typeof didDocument>[1]) => {
    host.pages.set(DID_DOCUMENT, didDocument(did, keys));
    await stateAfterVerify(hosted.principalKey);
  };
  const signedAs = (hosted: Hosted, privateJwk: Parameters<typeof signerFromJwk>[0], id: string) => ({
    ...hosted,
    principal: createPrincipalClient({
      baseUrl: baseUrl(),
      apiKey: hosted.principalKey,
      signer: signerFromJwk(privateJwk, `${did}#${id}`),
    }),
  });

  it('other bytes under a known kid decide nothing', async () => {
    const hosted = await allowed();
    const other = await generatePrincipalKey();
    await publish(hosted, [{ publicKeyMultibase: other.publicKeyMultibase }]);
    const thief = signedAs(hosted, other.privateJwk, 'key-1');
    expect(await verdict(thief, await issueGrant(thief))).toBe('ISSUER_KEY_NOT_FOUND');
  });

  it('a compromised key published again under another kid stays compromised', async () => {
    const hosted = await allowed();
    const stolen = await generatePrincipalKey();
    await publish(hosted, [hosted, { id: 'key-2', publicKeyMultibase: stolen.publicKeyMultibase }]);
    const before = signedAs(hosted, stolen.privateJwk, 'key-2');
    expect(await verdict(before, await issueGrant(before))).toBe('ALLOW');
    await hosted.principal.keys.compromise(`${did}#key-2`);
    await publish(hosted, [hosted, { id: 'key-9', publicKeyMultibase: stolen.publicKeyMultibase }]);
    const after = signedAs(hosted, stolen.privateJwk, 'key-9');
    expect(await verdict(after, await issueGrant(after))).toBe('ISSUER_KEY_COMPROMISED');
  });

  it('a kid that the service does not record, and so could not be retired, decides nothing', async () => {
    const hosted = await allowed();
    const planted = await generatePrincipalKey();
    await publish(hosted, [hosted, { id: 'k%65y', publicKeyMultibase: planted.publicKeyMultibase }]);
    const thief = signedAs(hosted, planted.privateJwk, 'k%65y');
    expect(await verdict(thief, await issueGrant(thief))).toBe('ISSUER_KEY_NOT_FOUND');
  });
});

describe('proof of the domain', () => {
  withNodes(2);

  it('by a well-known document: ISSUER_UNVERIFIED until it is verified, then ALLOW on every node', async () => {
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

  it('by a TXT record', async () => {
    const hosted = await register();
    await restart(mapEnv({ [`txt:_svc-challenge.${name}`]: ['other', `svc-verification=${hosted.token}`] }));
    expect(await stateAfterVerify(ADMIN_TOKEN)).toBe('verified');
  });

  it('a proof for another DID or with another token is none', async () => {
    const hosted = await register();
    for (const page of [
      { did: `${did}:other`, token: hosted.token },
      { did, token: `${hosted.token}x` },
    ]) {
      host.pages.set(PROOF, page);
      expect(await stateAfterVerify(ADMIN_TOKEN)).toBe('unverified');
    }
  });

  it('a domain that cannot be asked keeps its state for 72 h since the last proof, and decisions count them too', async () => {
    const hosted = await register();
    publishProof(hosted);
    await verifyDomain(ADMIN_TOKEN);
    const grant = await issueGrant(hosted);
    host.isDown = true;
    await age('last_proven_at', '71 hours 59 minutes');
    expect(await stateAfterVerify(ADMIN_TOKEN)).toBe('verified');
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    await age('last_proven_at', '72 hours 1 minute');
    expect(await verdict(hosted, grant)).toBe('ISSUER_UNVERIFIED');
    expect(await stateAfterVerify(ADMIN_TOKEN)).toBe('unverified');
    expect((await audited()).at(-1)?.details).toMatchObject({
      from: 'verified',
      to: 'unverified',
      outcome: 'unknown',
    });
  });

  it('another’s Principal answers as an absent one; a managed one is verified without a question', async () => {
    const hosted = await register();
    const managed = await createTenants(baseUrl());
    expect((await verifyDomain(managed.principalKey)).status).toBe(404);
    const before = host.asked.length;
    const own = `/principals/${managed.principalDid}/verify`;
    const { status, json } = await contractCall(baseUrl(), 'POST', own, { key: managed.principalKey });
    expect([status, json.verification]).toMatchObject([200, { state: 'verified' }]);
    expect(host.asked.length).toBe(before);
    const absent = `/principals/did:web:absent.example/verify`;
    expect((await contractCall(baseUrl(), 'POST', absent, { key: hosted.principalKey })).status).toBe(404);
  });
});

describe('the DID document, when a verification needs it', () => {
  withNodes(2);

  const verified = async (): Promise<{ hosted: Hosted; grant: HeldGrant }> => {
    const hosted = await register();
    publishProof(hosted);
    await verifyDomain(hosted.principalKey);
    const grant = await issueGrant(hosted);
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    return { hosted, grant };
  };

  it('is not fetched again within 5 minutes, and is after', async () => {
    const { hosted, grant } = await verified();
    const before = host.asked.length;
    await age('document_resolved_at', '4 minutes 50 seconds');
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    expect(host.asked.length).toBe(before);
    await age('document_resolved_at', '5 minutes 1 second');
    const { decision, evaluated_at: evaluatedAt, evidence } = await ask(hosted, grant);
    expect(decision).toBe('ALLOW');
    expect(Date.parse(evidence.issuer_resolution?.resolved_at ?? '')).toBeLessThanOrEqual(
      Date.parse(evaluatedAt),
    );
    expect(host.asked.slice(before)).toEqual([DID_DOCUMENT]);
    expect(Date.now() - ((await storedDocument())?.resolved.getTime() ?? 0)).toBeLessThan(60_000);
  });

  it('is fetched once for all who wait for it', async () => {
    const { hosted, grant } = await verified();
    const before = host.asked.length;
    await age('document_resolved_at', '6 minutes');
    // A loaded machine refuses some, which ask again as they were told to.
    const settled = async (repeats = 20): Promise<string> => {
      const found = await verdict(hosted, grant);
      return found === 'SERVICE_UNAVAILABLE' && repeats > 0 ? settled(repeats - 1) : found;
    };
    const verdicts = await Promise.all(Array.from({ length: 20 }, () => settled()));
    expect(new Set(verdicts)).toEqual(new Set(['ALLOW']));
    expect(host.asked.slice(before)).toEqual([DID_DOCUMENT]);
  });

  it('serves for an hour while the host is down, then the answer is SERVICE_UNAVAILABLE', async () => {
    const { hosted, grant } = await verified();
    host.isDown = true;
    await age('document_resolved_at', '59 minutes');
    const receipt = await ask(hosted, grant);
    expect(receipt.decision).toBe('ALLOW');
    const resolvedAt = (await storedDocument())?.resolved.toISOString();
    expect(receipt.evidence.issuer_resolution?.resolved_at).toBe(resolvedAt);
    await age('document_resolved_at', '61 minutes');
    expect(await verdict(hosted, grant)).toBe('SERVICE_UNAVAILABLE');
    host.isDown = false;
    await verifyDomain(hosted.principalKey);
    expect(await verdict(hosted, grant)).toBe('ALLOW');
  });

  it('dated by a clock that ran ahead is of an age that nobody knows: it is fetched again, and decides nothing until it is', async () => {
    const { hosted, grant } = await verified();
    await age('document_resolved_at', '-26 hours');
    host.isDown = true;
    expect(await verdict(hosted, grant)).toBe('SERVICE_UNAVAILABLE');
    host.isDown = false;
    host.pages.set(DID_DOCUMENT, didDocument(did, []));
    expect(await verdict(hosted, grant, 1)).toBe('ISSUER_KEY_NOT_FOUND');

    host.pages.set(DID_DOCUMENT, didDocument(did, [hosted]));
    await age('document_resolved_at', '-26 hours');
    await verifyDomain(hosted.principalKey);
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    expect(((await storedDocument())?.resolved.getTime() ?? 0) - Date.now()).toBeLessThan(60_000);
  });

  it('a host that does not answer in time holds up nobody beyond the deadline of a verify', async () => {
    const { hosted, grant } = await verified();
    let open = () => {};
    host.gate = new Promise((resolve) => {
      open = resolve;
    });
    await age('document_resolved_at', '30 minutes');
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    await age('document_resolved_at', '90 minutes');
    expect(await verdict(hosted, grant, 1)).toBe('SERVICE_UNAVAILABLE');
    open();
    // What came too late for these two is there for the next.
    while (Date.now() - ((await storedDocument())?.resolved.getTime() ?? 0) > 60_000);
  });

  it('a host that is down is not asked again for every verification', async () => {
    const { hosted, grant } = await verified();
    host.isDown = true;
    await age('document_resolved_at', '30 minutes');
    const before = host.asked.length;
    for (let i = 0; i < 5; i++) expect(await verdict(hosted, grant)).toBe('ALLOW');
    expect(host.asked.slice(before)).toEqual([DID_DOCUMENT]);
  });

  it.each([
    ['another id', () => ({ ...didDocument(did, []), id: 'did:web:other.example' })],
    ['no document', () => undefined],
    ['no JSON', () => '{"id":'],
  ])('with %s is refused: the one in force serves for its hour', async (_, page) => {
    const { hosted, grant } = await verified();
    host.pages.set(DID_DOCUMENT, page());
    await age('document_resolved_at', '30 minutes');
    expect(await verdict(hosted, grant)).toBe('ALLOW');
    await age('document_resolved_at', '61 minutes');
    expect(await verdict(hosted, grant, 1)).toBe('SERVICE_UNAVAILABLE');
  });

  it('without the key takes effect as soon as it is fetched: ISSUER_KEY_NOT_FOUND, and its bytes are evidence', async () => {
    const { hosted, grant } = await verified();
    const other = (await generatePrincipalKey()).registration;
    const document = didDocument(did, [hosted, other]);
    const [, onlyOther] = document.verificationMethod;
    host.pages.set(DID_DOCUMENT, {
      ...document,
      verificationMethod: [onlyOther],
      assertionMethod: [`${did}#key-2`],
    });
    await age('document_resolved_at', '6 minutes');
    const receipt = await ask(hosted, grant);
    expect(receipt.reason).toBe('ISSUER_KEY_NOT_FOUND');
    expect(await verdict(hosted, grant, 1)).toBe('ISSUER_KEY_NOT_FOUND');
    const hash = receipt.evidence.issuer_resolution?.did_document_hash ?? '';
    const evidence = await contractCall(baseUrl(), 'GET', `/evidence/${hash}`);
    expect(JSON.parse(evidence.text)).toEqual(host.pages.get(DID_DOCUMENT));
    const { rows } = await sql.query('select kid from principal_keys where principal = $1 order by kid', [
      did,
    ]);
    expect(rows.map(({ kid }) => kid)).toEqual([`${did}#key-1`, `${did}#key-2`]);
  });
});

describe('loss of verification under load at two processes', () => {
  withNodes(2, startApiProcesses);

  const ROUNDS = sampled({ quick: 1, deep: 12 });
  const LOADS = 8;
  const AFTERWARDS = 3;

  const countAllowed = async ({ grantId }: HeldGrant): Promise<number> => {
    const { rows } = await sql.query<{ n: number }>(
      `select count(*)::int as n from receipts where grant_id = $1 and decision = 'ALLOW'`,
      [grantId],
    );
    return rows[0]?.n ?? 0;
  };

  /** ALLOWs that became visible after the 200, over all rounds. */
  const loseAgainAndAgain = async (hosted: Hosted, grant: HeldGrant): Promise<number> => {
    let late = 0;
    for (let round = 0; round < ROUNDS; round++) {
      publishProof(hosted);
      expect(await stateAfterVerify(ADMIN_TOKEN)).toBe('verified');
      let isLost = false;
      let allowed = 0;
      const load = async (node: number) => {
        for (let after = 0; after < AFTERWARDS; ) {
          after += isLost ? 1 : 0;
          const body = await verifyBody(hosted, grant);
          const sent = await call(baseUrl(node), 'POST', '/verify', { key: hosted.rpKey, body });
          if (receiptUnlessRefused(sent)?.decision === 'ALLOW') allowed += 1;
        }
      };
      const loads = Array.from({ length: LOADS }, (_, i) => load(i % 2));
      while (allowed < 2 * LOADS) await new Promise((resolve) => setImmediate(resolve));
      host.pages.delete(PROOF);
      expect(await stateAfterVerify(ADMIN_TOKEN, round % 2)).toBe('unverified');
      const atOnce = await countAllowed(grant);
      isLost = true;
      await Promise.all(loads);
      late += (await countAllowed(grant)) - atOnce;
    }
    return late;
  };

  /** Changes a function of the database; answers how it stood. */
  const alter = async (name: string, change: (source: string) => string): Promise<string> => {
    const { rows } = await sql.query<{ source: string }>(
      'select pg_get_functiondef(oid) as source from pg_proc where proname = $1',
      [name],
    );
    const source = rows[0]?.source ?? '';
    const changed = change(source);
    expect(changed).not.toBe(source);
    await sql.query(changed);
    return source;
  };

  // Widens the gap between judging a decision and committing it.
  beforeAll(async () => {
    const judged = '  if v_any.caps then\n    v_outcomes := svc_judge_caps';
    await alter('svc_commit_decisions', (source) =>
      source.replace(judged, `  perform pg_sleep(0.05);\n${judged}`),
    );
  });

  it('no ALLOW after the 200', async () => {
    const hosted = await register();
    expect(await loseAgainAndAgain(hosted, await issueGrant(hosted))).toBe(0);
  }, 120_000);

  it('the same without the barrier breaks it: the test can fail', async () => {
    const whole = await alter('svc_pass_barrier', (source) =>
      source.replace(/perform pg_advisory_xact_lock\([^;]*;/, ''),
    );
    try {
      const hosted = await register();
      const grant = await issueGrant(hosted);
      let late = 0;
      for (let tries = 0; tries < 8 && late === 0; tries++) late += await loseAgainAndAgain(hosted, grant);
      expect(late).toBeGreaterThan(0);
    } finally {
      await sql.query(whole);
    }
  }, 300_000);
});
