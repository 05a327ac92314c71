/** No receiver gets SETs whose `aud` is a DID that it has not proven to be its own (protocol §13, Claims, and §17). */
import { beforeAll, expect, it } from 'vitest';
import { startGateway, withStreams } from '../endpoints/ssf/world.ts';
import { randomSlug } from '../world/deployment.ts';

const gateway = await startGateway();
const world = withStreams(gateway.map);
const DELIVERY = { method: 'urn:ietf:rfc:8935', endpoint_url: 'https://gateway.example/sets' };
let orgKey: string;

beforeAll(async () => {
  const { deployment } = world;
  orgKey = await deployment.createKey('org:admin', await deployment.createOrg());
});

const KINDS = [
  ['a Principal', '/principals', 'principals'],
  ['a relying party', '/relying-parties', 'relying_parties'],
] as const;

/** Claims as an org that has proven nothing about the domain. */
const claim = (path: (typeof KINDS)[number][1]) =>
  world.deployment.register(path, { kind: 'hosted', did: `did:web:${randomSlug('c')}.example` }, orgKey);
const setClaimed = (table: (typeof KINDS)[number][2], did: string, isClaimed: boolean) =>
  world.deployment.sql.query(
    `update ${table} set claim_expires_at = case when $2 then svc_now() + interval '7 days' end where did = $1`,
    [did, isClaimed],
  );

it.each(KINDS)(
  '%s that is claimed cannot create a stream until its domain is proven',
  async (_, path, table) => {
    const { did, key } = await claim(path);
    const refused = await world.call('POST', '/ssf/streams', {}, key);
    expect([refused.status, refused.json.error]).toEqual([403, 'FORBIDDEN']);
    expect(refused.text).toContain(`${did} is claimed`);
    expect((await world.call('GET', '/ssf/streams', undefined, key)).text).toBe('[]');
    await setClaimed(table, did, false);
    expect(await world.create({}, key)).toMatchObject({ aud: did });
  },
);

it.each(KINDS)(
  'a stream of %s delivers nothing and cannot be changed while its DID is claimed',
  async (_, path, table) => {
    const { did, key } = await claim(path);
    await setClaimed(table, did, false);
    const pushed = await world.create({ delivery: DELIVERY }, key);
    const polled = await world.create({}, key);
    for (const { stream_id } of [pushed, polled])
      expect((await world.call('POST', '/ssf/verify', { stream_id }, key)).status).toBe(204);
    await setClaimed(table, did, true);
    await world.move();
    expect(gateway.pushed).toEqual([]);
    const { stream_id } = polled;
    const calls = [
      ['POST', `/ssf/streams/${stream_id}/poll`, { returnImmediately: true }],
      ['PATCH', '/ssf/streams', { stream_id, delivery: DELIVERY }],
      ['PUT', '/ssf/streams', { stream_id }],
      ['POST', '/ssf/verify', { stream_id }],
    ] as const;
    for (const [method, route, body] of calls) {
      const { status, json } = await world.call(method, route, body, key);
      expect([route, status, json.error]).toEqual([route, 403, 'FORBIDDEN']);
    }
    await setClaimed(table, did, false);
    expect(Object.keys((await world.poll(stream_id, {}, key)).sets)).toHaveLength(1);
    for (const one of [pushed, polled])
      await world.call('DELETE', `/ssf/streams?stream_id=${one.stream_id}`, undefined, key);
  },
);

it('an org with claimed DIDs can create a stream, whose aud is the id of the org', async () => {
  await claim('/principals');
  expect((await world.create({}, orgKey)).aud).toMatch(/^org_/);
});
