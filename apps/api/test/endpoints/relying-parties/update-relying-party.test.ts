/** `PATCH /relying-parties/{did}` (interface §Relying party). */
import { beforeAll, describe, expect, it } from 'vitest';
import { contractCall } from '../../world/contract-call.ts';
import { type Registered, randomSlug, withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();
let orgId: string;
let foreignOrgId: string;
let orgAdmin: string;
let own: Registered;
let foreign: Registered;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  foreignOrgId = await deployment.createOrg();
  orgAdmin = await deployment.createKey('org:admin', orgId);
  own = await deployment.register('/relying-parties', managed(), orgAdmin);
  foreign = await deployment.register('/relying-parties', managed({ org_id: foreignOrgId }));
});

const managed = (more: object = {}) => ({ kind: 'managed', slug: randomSlug('r'), ...more });
const get = (did: string, key: string) =>
  deployment.call('GET', `/relying-parties/${encodeURIComponent(did)}`, { key });
const patch = async (did: string, body: object, key?: string) =>
  deployment.call('PATCH', `/relying-parties/${encodeURIComponent(did)}`, {
    key: key ?? (await deployment.createKey('org:admin', orgId)),
    body,
  });

describe('PATCH /relying-parties/{did} with an org:read key', () => {
  it('is refused with 403, for a relying party of any org', async () => {
    const orgRead = await deployment.createKey('org:read', orgId);
    for (const did of [own.did, foreign.did])
      expect((await patch(did, { name: 'x' }, orgRead)).json.error).toBe('FORBIDDEN');
  });
});

describe('A changed rate limit of a relying party', () => {
  const DENIED = { grant: '', proof: '', action: {} };
  /** The status and the remaining limit of a verification on a node. */
  const limitOn = async (node: number, key: string) => {
    const { baseUrl } = deployment.processes[node] ?? deployment.process;
    const { status, headers } = await contractCall(baseUrl, 'POST', '/verify', { key, body: DENIED });
    return [status, headers['ratelimit-limit']];
  };

  /**
   * The answer to the last of its calls to the other node. The calls end with the first that begins 2 s after the
   * change, or the first whose answer satisfies `isTold`.
   */
  const onOtherWithin2Seconds = async (key: string, isTold: (told: unknown[]) => boolean) => {
    const answeredAt = performance.now();
    for (;;) {
      const isLast = performance.now() - answeredAt >= 2_000;
      const told = await limitOn(1, key);
      if (isLast || isTold(told)) return told;
    }
  };

  it('applies from the 200 on: at once on the node that was called, within 2 s on the other node', async () => {
    const { did, key } = await deployment.register(
      '/relying-parties',
      managed({ verify_rate_limit_per_minute: 100 }),
      orgAdmin,
    );
    for (const limit of ['300', '200', '1']) {
      for (const node of [0, 1]) await limitOn(node, key);
      const change = { verify_rate_limit_per_minute: Number(limit) };
      expect((await patch(did, change)).status).toBe(200);
      const [onOther, onOwn] = await Promise.all([
        onOtherWithin2Seconds(key, ([, told]) => told === limit),
        limitOn(0, key),
      ]);
      expect([onOwn[1], onOther[1]]).toEqual([limit, limit]);
    }
    // Two calls, because the minute may end before the first.
    expect([await limitOn(0, key), await limitOn(0, key)]).toContainEqual([429, '1']);
  });

  it('ends a 429 of the old limit within 2 s on a node that was not called', async () => {
    const { did, key } = await deployment.register(
      '/relying-parties',
      managed({ verify_rate_limit_per_minute: 1 }),
      orgAdmin,
    );
    let refused: unknown[] = [];
    while (refused[0] !== 429) refused = await limitOn(1, key);
    expect((await patch(did, { verify_rate_limit_per_minute: 300 })).status).toBe(200);
    expect((await onOtherWithin2Seconds(key, ([status]) => status === 200))[0]).toBe(200);
  });
});

describe('PATCH /relying-parties/{did}', () => {
  it('changes the given members and leaves the others; an empty body changes nothing', async () => {
    const { did, key } = await deployment.register('/relying-parties', managed({ name: 'Before' }), orgAdmin);
    const before = (await get(did, key)).json;
    expect((await patch(did, { proof_window_seconds: 7 })).json).toEqual({
      ...before,
      proof_window_seconds: 7,
    });
    expect((await patch(did, {})).json).toEqual({ ...before, proof_window_seconds: 7 });
    const last = { name: 'After', verify_rate_limit_per_minute: 5, profile: 'svc-base-v1' };
    expect((await patch(did, last)).json).toEqual({ ...before, proof_window_seconds: 7, ...last });
    expect((await get(did, key)).json).toEqual({ ...before, proof_window_seconds: 7, ...last });
  });

  it('with the current values changes nothing and is not audited', async () => {
    const { did, key } = await deployment.register('/relying-parties', managed({ name: 'Before' }), orgAdmin);
    const before = (await get(did, key)).json;
    const { name, proof_window_seconds, verify_rate_limit_per_minute, profile } = before;
    const same = { name, proof_window_seconds, verify_rate_limit_per_minute, profile };
    for (const body of [{}, { name }, same]) expect((await patch(did, body)).json).toEqual(before);
    const updates = async () => {
      const text = `select details from audit_events where target = $1 and action = 'relying_party.update'`;
      return (await deployment.sql.query(text, [did])).rows.map(({ details }) => details);
    };
    expect(await updates()).toEqual([]);
    await patch(did, { name, profile, proof_window_seconds: 7 });
    expect(await updates()).toEqual([{ name, profile, proof_window_seconds: 7 }]);
  });

  it.each([
    [{ did: 'did:web:a.example' }],
    [{ org_id: null }],
    [{ slug: 'a' }],
    [{ profile: 'x' }],
    [[]],
    [null],
  ])('refuses %j with 400', async (body) => {
    expect((await patch(own.did, body as object)).status).toBe(400);
  });
});
