import {
  apiKeyOf,
  auditEventOf,
  directoryEntryOf,
  meOf,
  notFound,
  principalOf,
  revokedKey,
} from '@svc/testkit/sdk/accounts';
import { type Reply, startServer, unavailable } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, it, vi } from 'vitest';
import { createPrincipalClient, type PrincipalClient, SvcError } from '../src/index.ts';
import { agent, created, GRANT_ID, ISSUER, KID } from './fixtures.ts';

const clientOf = (baseUrl: string) =>
  createPrincipalClient({ baseUrl, apiKey: 'dk_principal_test', random: () => 0, timeoutMs: 5_000 });

const failure = async (work: Promise<unknown>): Promise<SvcError> => {
  const error = await work.then(
    (value) => value,
    (reason: unknown) => reason,
  );
  if (!(error instanceof SvcError)) throw new Error('expected an SvcError', { cause: error });
  return error;
};

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

const AT = '2026-11-20T08:00:00.000Z';
const LOCAL = 'did:web:localhost%3A8443:org:a';
const limited: Reply = { ...(unavailable() as object), status: 429 };
const compromised: Reply = { json: { kid: KID, state: 'compromised' } };
const disabled: Reply = { json: { did: agent.did, disabled_at: AT, revoked_grants: [GRANT_ID] } };

describe('a call that takes authority away:', () => {
  const calls: [string, (client: PrincipalClient) => Promise<unknown>, Reply, string, unknown][] = [
    [
      'keys.compromise',
      ({ keys }) => keys.compromise(KID),
      compromised,
      '/keys/did%3Aweb%3Aacme.example%23key-1/compromise',
      { kid: KID, state: 'compromised' },
    ],
    [
      'agents.disable',
      ({ agents }) => agents.disable(agent.did),
      disabled,
      `/agents/${encodeURIComponent(agent.did)}/disable`,
      { did: agent.did, disabledAt: AT, revokedGrants: [GRANT_ID] },
    ],
  ];

  it.each(calls)(
    '%s is retried after 503, 429 and lost connections until it is confirmed',
    async (...one) => {
      const [, act, confirmed, path, result] = one;
      const lost = { ...(confirmed as object), cut: true };
      await using server = await startServer([
        unavailable(),
        'destroy',
        limited,
        lost,
        unavailable(),
        confirmed,
      ]);
      expect(await act(clientOf(server.baseUrl))).toEqual(result);
      const sent = server.received.map(({ method, path, body }) => ({ method, path, body }));
      expect(sent).toEqual(Array(6).fill({ method: 'POST', path, body: '' }));
    },
  );

  it.each(calls)(
    '%s ends with a refusal where the service asks for a wait beyond the deadline',
    async (_, act) => {
      const refusals = Array.from({ length: 10 }, () => unavailable());
      await using server = await startServer([...refusals, unavailable('3600')]);
      expect(await failure(act(clientOf(server.baseUrl)))).toMatchObject({ kind: 'refused', status: 503 });
      expect(server.received).toHaveLength(11);
    },
  );

  it.each(calls)('%s reports an unknown outcome after a lost answer and a refusal', async (_, act) => {
    await using server = await startServer(['destroy', notFound]);
    expect(await failure(act(clientOf(server.baseUrl)))).toMatchObject({
      kind: 'outcome-unknown',
      code: 'NOT_FOUND',
    });
  });

  it('agents.disable returns all of 100,000 revoked Grants', async () => {
    const ids = Array.from(
      { length: 100_000 },
      (_, n) => `${GRANT_ID.slice(0, -6)}${String(n).padStart(6, '0')}`,
    );
    await using server = await startServer([
      { json: { did: agent.did, disabled_at: AT, revoked_grants: ids } },
    ]);
    const { revokedGrants } = await clientOf(server.baseUrl).agents.disable(agent.did);
    expect(revokedGrants).toEqual(ids);
  });

  it.each([
    [1_000, 45_000],
    [20_000, 60_000],
  ])('agents.disable with a timeoutMs of %i may take %i ms', async (timeoutMs, patienceMs) => {
    vi.useFakeTimers();
    try {
      const client = createPrincipalClient({
        baseUrl: 'https://svc.example',
        apiKey: 'dk_principal_test',
        timeoutMs,
        fetch: () => new Promise(() => undefined),
      });
      const ended = vi.fn();
      const work = client.agents.disable(agent.did).catch(ended);
      await vi.advanceTimersByTimeAsync(patienceMs - 1);
      expect(ended).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(1);
      await work;
      expect(ended).toHaveBeenCalledWith(expect.objectContaining({ kind: 'outcome-unknown' }));
    } finally {
      vi.useRealTimers();
    }
  });

  it('an answer about another key or Agent is refused', async () => {
    await using server = await startServer([{ json: { kid: `${ISSUER}#key-2`, state: 'compromised' } }]);
    expect((await failure(clientOf(server.baseUrl).keys.compromise(KID))).kind).toBe('bad-response');
    const other = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';
    await using second = await startServer([{ json: { did: other, disabled_at: AT, revoked_grants: [] } }]);
    expect((await failure(clientOf(second.baseUrl).agents.disable(agent.did))).kind).toBe('bad-response');
  });

  it('an answer that says retired does not confirm keys.compromise', async () => {
    await using server = await startServer([{ json: { kid: KID, state: 'retired' } }]);
    expect((await failure(clientOf(server.baseUrl).keys.compromise(KID))).kind).toBe('bad-response');
  });
});

describe('keys and Agents', () => {
  it('keys.retire escapes the DID URL in the path, and returns compromised for a compromised key', async () => {
    const kid = `${LOCAL}#key-1`;
    await using server = await startServer([
      { json: { kid, state: 'retired' } },
      { json: { kid, state: 'compromised' } },
    ]);
    const { keys } = clientOf(server.baseUrl);
    expect(await keys.retire(kid)).toEqual({ kid, state: 'retired' });
    expect(await keys.retire(kid)).toEqual({ kid, state: 'compromised' });
    expect(server.received[0]?.path).toBe('/keys/did%3Aweb%3Alocalhost%253A8443%3Aorg%3Aa%23key-1/retire');
  });

  it('agents.register registers an Agent', async () => {
    const record = { did: agent.did, principal: ISSUER, created_at: AT };
    await using server = await startServer([created(record)]);
    expect(await clientOf(server.baseUrl).agents.register(agent.did)).toEqual(record);
    expect(server.received).toMatchObject([
      { method: 'POST', path: '/agents', body: JSON.stringify({ did: agent.did }) },
    ]);
  });

  it.each<[string, (client: PrincipalClient) => Promise<unknown>]>([
    ['no key', ({ keys }) => keys.retire(undefined as unknown as string)],
    ['a key without a DID', ({ keys }) => keys.retire('#key-1')],
    ['a key without a fragment', ({ keys }) => keys.retire(ISSUER)],
    ['a key with two fragments', ({ keys }) => keys.compromise(`${KID}#x`)],
    ['the key of a did:key', ({ keys }) => keys.compromise(agent.kid)],
    ['an Agent that is no did:key', ({ agents }) => agents.disable(ISSUER)],
    ['a relative path as Agent', ({ agents }) => agents.register('../me')],
    ['the Grant itself', ({ grants }) => grants.revoke('eyJ.e30.x')],
    ['a time that is no Date', ({ audit }) => audit.page({ since: 5 as unknown as Date })],
    ['something else than a key id', ({ apiKeys }) => apiKeys.revoke('dk_principal_secret')],
    ['something else than a DID', ({ directory }) => directory.get('..')],
    ['a day that does not exist', ({ audit }) => audit.page({ since: new Date(Number.NaN) })],
  ])('%s is refused before anything is sent', async (_, act) => {
    await using server = await startServer([{}]);
    const error = await failure(act(clientOf(server.baseUrl)));
    expect(error).toMatchObject({
      kind: 'invalid-argument',
      message: expect.stringMatching(/^\w+ must be /),
    });
    expect(error.message).not.toContain('secret');
    expect(server.received).toEqual([]);
  });
});

describe('API keys', () => {
  const key = apiKeyOf(ISSUER, 'principal');
  const issued = { ...key, api_key: 'dk_principal_value' };

  it('are listed, issued and revoked', async () => {
    const keys = { subject: ISSUER, keys: [key] };
    await using server = await startServer([{ json: keys }, created(issued), created(issued), revokedKey]);
    const { apiKeys } = clientOf(server.baseUrl);
    expect(await apiKeys.list()).toEqual(keys);
    expect(await apiKeys.issue({ label: 'ci' })).toEqual(issued);
    await apiKeys.issue();
    expect(await apiKeys.revoke(key.key_id)).toEqual({ keyId: key.key_id, revokedAt: AT });
    expect(server.received.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
      'GET /api-keys ',
      'POST /api-keys {"label":"ci"}',
      'POST /api-keys {}',
      `POST /api-keys/${key.key_id}/revoke `,
    ]);
  });

  it('are never issued twice: issue is repeated after 429, but not after a lost answer, 503 or 504', async () => {
    await using busy = await startServer([limited, created(issued)]);
    expect(await clientOf(busy.baseUrl).apiKeys.issue()).toEqual(issued);
    for (const [reply, kind] of [
      ['destroy', 'outcome-unknown'],
      [{ ...(created(issued) as object), cut: true }, 'outcome-unknown'],
      [{ status: 504, json: {} }, 'outcome-unknown'],
      [unavailable(), 'refused'],
    ] as [Reply, SvcError['kind']][]) {
      await using server = await startServer([reply, created(issued)]);
      expect((await failure(clientOf(server.baseUrl).apiKeys.issue())).kind).toBe(kind);
      expect(server.received).toHaveLength(1);
    }
  });
});

describe("the Principal's own record", () => {
  it('is read and verified under the DID that /me names', async () => {
    const record = principalOf(LOCAL);
    await using server = await startServer(({ path }) => ({
      json: path === '/me' ? meOf(LOCAL, 'principal') : record,
    }));
    const { principals } = clientOf(server.baseUrl);
    expect(await principals.verify()).toEqual(record);
    expect(await principals.get()).toEqual(record);
    const own = '/principals/did%3Aweb%3Alocalhost%253A8443%3Aorg%3Aa';
    expect(server.received.map(({ method, path }) => `${method} ${path}`)).toEqual([
      'GET /me',
      `POST ${own}/verify`,
      'GET /me',
      `GET ${own}`,
    ]);
  });

  it('cannot be verified with an API key of another class', async () => {
    await using server = await startServer([{ json: meOf('org_01KAGT3Z5M8Q2R7V9X1C4E6H8M', 'org:read') }]);
    expect((await failure(clientOf(server.baseUrl).principals.verify())).kind).toBe('configuration');
  });
});

describe('the directory', () => {
  it('is read page by page, only as far as it is consumed', async () => {
    const dids = ['did:web:a.example', 'did:web:b.example', 'did:web:c.example'];
    await using server = await startServer(({ path }) => {
      const cursor = new URL(path, 'http://x').searchParams.get('cursor');
      const page = cursor === null ? 0 : dids.indexOf(cursor) + 1;
      const next = page === 2 ? null : dids[page];
      return { json: { principals: [directoryEntryOf(dids[page] ?? '')], next_cursor: next } };
    });
    const { directory } = clientOf(server.baseUrl);
    const filter = { kind: 'hosted', state: 'unverified', limit: 1 } as const;
    for await (const { did } of directory.list(filter)) if (did === dids[0]) break;
    expect(server.received).toHaveLength(1);
    expect((await collect(directory.list(filter))).map(({ did }) => did)).toEqual(dids);
    expect(server.received[3]?.path).toBe(
      '/principals?kind=hosted&state=unverified&limit=1&cursor=did%3Aweb%3Ab.example',
    );
  });

  it('returns a full record or a directory entry, and refuses an answer about another DID', async () => {
    const replies = [principalOf(ISSUER), directoryEntryOf(ISSUER), directoryEntryOf('did:web:b.example')];
    await using server = await startServer(replies.map((json) => ({ json })));
    const { directory } = clientOf(server.baseUrl);
    const own = await directory.get(ISSUER);
    expect('registered_at' in own ? null : own.verification.token).toBe('dG9rZW4');
    const entry = await directory.get(ISSUER);
    expect('registered_at' in entry ? entry.keys : null).toHaveLength(1);
    expect((await failure(directory.get(ISSUER))).kind).toBe('bad-response');
  });
});

describe('the audit log', () => {
  it('is read page by page with all filters, and its times may be Dates', async () => {
    await using server = await startServer([
      { json: { events: [auditEventOf('1', ISSUER)], next_cursor: 'older' } },
      { json: { events: [{ ...auditEventOf('2', ISSUER), action: 'newer.thing' }], next_cursor: null } },
    ]);
    const filter = { action: 'grant.revoke', target: GRANT_ID, since: new Date(AT), until: AT } as const;
    const events = await collect(clientOf(server.baseUrl).audit.list({ ...filter, limit: 1 }));
    expect(events.map(({ event_id, action }) => `${event_id} ${action}`)).toEqual([
      'aud_1 grant.revoke',
      'aud_2 newer.thing',
    ]);
    const query = Object.fromEntries(new URL(server.received[1]?.path ?? '', 'http://x').searchParams);
    expect(query).toEqual({ ...filter, since: AT, limit: '1', cursor: 'older' });
  });

  it('ends with an error where a cursor repeats', async () => {
    await using server = await startServer([{ json: { events: [], next_cursor: 'again' } }]);
    expect((await failure(collect(clientOf(server.baseUrl).audit.list()))).kind).toBe('bad-response');
  });
});

describe('consumption', () => {
  const pageOf = (versions: readonly number[], next: number | null) => ({
    json: {
      ...{ grant_id: GRANT_ID, principal: ISSUER, agent: agent.did, version: 5, as_of: AT },
      snapshot_hash: `sha256:${'0'.repeat(64)}`,
      capabilities: [],
      events: versions.map((version) => ({
        ...{ version, key: `sha256:${'1'.repeat(64)}`, delta_total: 1, delta_period: 0, delta_uses: 1 },
        ...{ period_start: null, cause: 'consume', recorded_at: AT },
        ...{ cause_id: RECEIPT_ID, receipt_id: RECEIPT_ID },
      })),
      next_cursor: next,
    },
  });
  const RECEIPT_ID = 'drc_01M7VZGC008Q2R7V9X1C4E6H8K';

  it('is read page by page, and one page can be read alone', async () => {
    await using server = await startServer([pageOf([5, 4], 4), pageOf([3], null), pageOf([], null)]);
    const { grants } = clientOf(server.baseUrl);
    const events = await collect(grants.consumption(GRANT_ID, { limit: 2 }));
    expect(events.map(({ version }) => version)).toEqual([5, 4, 3]);
    expect((await grants.consumptionPage(GRANT_ID)).version).toBe(5);
    const path = `/grants/${encodeURIComponent(GRANT_ID)}/consumption`;
    const asked = server.received.map((request) => request.path);
    expect(asked).toEqual([`${path}?limit=2`, `${path}?limit=2&cursor=4`, path]);
  });

  it('ends with an error where a cursor repeats', async () => {
    await using server = await startServer([pageOf([5], 5), pageOf([5], 5)]);
    const error = await failure(collect(clientOf(server.baseUrl).grants.consumption(GRANT_ID)));
    expect([error.kind, server.received.length]).toEqual(['bad-response', 2]);
  });

  it('of another Grant is refused, and so is a malformed id', async () => {
    await using server = await startServer([pageOf([], null)]);
    const { grants } = clientOf(server.baseUrl);
    const other = GRANT_ID.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect((await failure(grants.consumptionPage(other))).kind).toBe('bad-response');
    expect((await failure(grants.consumptionPage('grant'))).kind).toBe('invalid-argument');
    expect(server.received).toHaveLength(1);
  });
});
