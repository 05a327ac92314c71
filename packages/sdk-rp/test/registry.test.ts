import {
  apiKeyOf,
  auditEventOf,
  directoryEntryOf,
  meOf,
  notFound,
  revokedKey,
} from '@svc/testkit/sdk/accounts';
import { startServer } from '@svc/testkit/sdk/scripted-server';
import { describe, expect, it } from 'vitest';
import { createVerifier } from '../src/index.ts';
import { ISSUER, SERVICE, SHOP } from './world.ts';

const verifierOf = (baseUrl: string, relyingParty?: string) =>
  createVerifier({
    baseUrl,
    apiKey: 'dk_rp_test',
    serviceDid: SERVICE,
    random: () => 0,
    ...(relyingParty === undefined ? {} : { relyingParty }),
  });

const AT = '2026-11-20T08:00:00.000Z';
const settings = {
  did: SHOP,
  name: 'Shop',
  proof_window_seconds: 60,
  verify_rate_limit_per_minute: 600,
  created_at: AT,
  org_id: null,
  profile: 'svc-base-v1',
};

describe("a relying party's own affairs", () => {
  it('its settings are read under its configured DID, or under the DID of its API key', async () => {
    await using server = await startServer(({ path }) => ({
      json: path === '/me' ? meOf(SHOP, 'rp') : settings,
    }));
    expect(await verifierOf(server.baseUrl, SHOP).relyingParty.get()).toEqual(settings);
    expect(await verifierOf(server.baseUrl).relyingParty.get()).toEqual(settings);
    const own = '/relying-parties/did%3Aweb%3Ashop.example';
    expect(server.received.map(({ path }) => path)).toEqual([own, '/me', own]);
  });

  it('settings of another relying party, or a key of another class, are an error', async () => {
    await using server = await startServer(({ path }) => ({
      json: path === '/me' ? meOf(ISSUER, 'principal') : settings,
    }));
    const other = verifierOf(server.baseUrl, 'did:web:other.example').relyingParty.get();
    await expect(other).rejects.toMatchObject({ kind: 'bad-response' });
    const wrong = verifierOf(server.baseUrl).relyingParty.get();
    await expect(wrong).rejects.toMatchObject({ kind: 'configuration' });
  });

  it('its API keys are listed, issued and revoked', async () => {
    const key = apiKeyOf(SHOP, 'rp');
    const issued = { ...key, api_key: 'dk_rp_value' };
    await using server = await startServer([
      { json: { subject: SHOP, keys: [key] } },
      { status: 201, json: issued },
      revokedKey,
    ]);
    const { apiKeys } = verifierOf(server.baseUrl);
    expect((await apiKeys.list()).keys).toEqual([key]);
    expect(await apiKeys.issue({ label: 'ci' })).toEqual(issued);
    expect(await apiKeys.revoke(key.key_id)).toEqual({ keyId: key.key_id, revokedAt: AT });
  });

  it('its audit log is read page by page', async () => {
    await using server = await startServer([
      { json: { events: [auditEventOf('1', SHOP)], next_cursor: 'older' } },
      { json: { events: [auditEventOf('2', SHOP)], next_cursor: null } },
    ]);
    const ids: string[] = [];
    for await (const { event_id } of verifierOf(server.baseUrl).audit.list()) ids.push(event_id);
    expect(ids).toEqual(['aud_1', 'aud_2']);
  });
});

describe('counts of decisions', () => {
  const range = { since: AT, until: AT };
  const counts = { verifies: 2, allow: 1, deny: 1 };
  const reasons = { GRANT_EXPIRED: 1 };

  it('usage translates its filter into the parameters of the service', async () => {
    const day = { day: '2026-11-20', ...counts, reasons, keys: { unknown: counts } };
    const usage = { ...range, rp: SHOP, key_id: '3fa1c09be742', totals: counts, days: [day] };
    await using server = await startServer([{ json: usage }, { json: usage }]);
    const verifier = verifierOf(server.baseUrl);
    const filter = { since: new Date(AT), until: AT, keyId: '3fa1c09be742', by: 'key' } as const;
    expect(await verifier.usage(filter)).toEqual(usage);
    await verifier.usage();
    const [asked, bare] = server.received.map(({ path }) => new URL(path, 'http://x'));
    expect(bare?.href).toBe('http://x/usage');
    expect(Object.fromEntries(asked?.searchParams ?? [])).toEqual({
      ...range,
      ...{ key_id: '3fa1c09be742', by: 'key' },
    });
  });

  it('stats translates its filter, and refuses malformed counts', async () => {
    const figures = { reasons, outcomes: { fulfilled: 1 }, losses: { EUR: 750 }, allow_with_outcome: 1 };
    const stats = {
      ...{ ...range, rps: [SHOP], totals: { ...counts, allow_with_outcome: 1 } },
      principals: [{ principal: null, ...counts, ...figures }],
    };
    await using server = await startServer([{ json: stats }, { json: { ...stats, principals: [counts] } }]);
    const { decisions } = verifierOf(server.baseUrl);
    expect(await decisions.stats({ until: new Date(AT), principal: SHOP })).toEqual(stats);
    expect(server.received[0]?.path).toBe(
      `/decisions/stats?principal=${encodeURIComponent(SHOP)}&until=${encodeURIComponent(AT)}`,
    );
    await expect(decisions.stats()).rejects.toMatchObject({ kind: 'bad-response' });
  });
});

describe('the directory', () => {
  it('is read although a DID document is nested deeply and has a fraction, which becomes null', async () => {
    const entry = directoryEntryOf('did:web:shop.example');
    const deep = JSON.parse('['.repeat(31) + ']'.repeat(31)) as unknown;
    const did_document = { id: entry.did, 'geo:lat': 48.2, deep };
    await using server = await startServer([
      { json: { principals: [{ ...entry, did_document }], next_cursor: null } },
    ]);
    const found = [];
    for await (const one of verifierOf(server.baseUrl).directory.list()) found.push(one);
    expect(found).toEqual([{ ...entry, did_document: { ...did_document, 'geo:lat': null } }]);
  });

  it('is read page by page, or one Principal at a time', async () => {
    const entry = directoryEntryOf('did:web:localhost%3A8443');
    await using server = await startServer([
      { json: { principals: [entry], next_cursor: entry.did } },
      { json: { principals: [], next_cursor: null } },
      { json: entry },
      notFound,
    ]);
    const { directory } = verifierOf(server.baseUrl);
    const found: unknown[] = [];
    for await (const one of directory.list({ state: 'unverified' })) found.push(one);
    expect(found).toEqual([entry]);
    expect(await directory.get(entry.did)).toEqual(entry);
    await expect(directory.get(entry.did)).rejects.toMatchObject({ kind: 'refused', status: 404 });
    expect(server.received.map(({ path }) => path)).toEqual([
      '/principals?state=unverified',
      '/principals?state=unverified&cursor=did%3Aweb%3Alocalhost%253A8443',
      '/principals/did%3Aweb%3Alocalhost%253A8443',
      '/principals/did%3Aweb%3Alocalhost%253A8443',
    ]);
  });
});
