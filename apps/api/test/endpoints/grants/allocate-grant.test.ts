/** `POST /grants` (interface §Grant allocation). */
import { encodeMultikey } from '@svc/protocol';
import { smallOrderEncodings } from '@svc/testkit/edwards';
import { beforeAll, describe, expect, it } from 'vitest';
import { DOMAIN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';
import { type Tenants, untilSettled } from '../../world/tenants.ts';

const deployment = withDeployment();
let orgId: string;
let own: Tenants;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  own = await deployment.createTenants({ orgId });
});

const allocate = (body: unknown, key = own.principalKey) => deployment.call('POST', '/grants', { key, body });

describe('POST /grants', () => {
  it('answers 201 with every field of GrantAllocation', async () => {
    const { status, json } = await allocate({ agent: own.agent.did });
    const { statusListIndex: index } = json.credentialStatus as { statusListIndex: string };
    const list = expect.stringMatching(new RegExp(`^http://${DOMAIN}/status-lists/${DOMAIN}/[1-9][0-9]*$`));
    expect([status, json]).toEqual([
      201,
      {
        id: expect.stringMatching(/^urn:svc:grant:[0-7][0-9A-HJKMNP-TV-Z]{25}$/),
        issuer: own.principalDid,
        agent: own.agent.did,
        credentialStatus: {
          id: expect.stringMatching(new RegExp(`#${index}$`)),
          type: 'BitstringStatusListEntry',
          statusPurpose: 'revocation',
          statusListIndex: index,
          statusListCredential: list,
        },
        allocated_at: expect.any(String),
      },
    ]);
  });

  it('returns distinct ids and status list entries to 100 concurrent calls', async () => {
    // A key of its own for each quarter, so that repeats stay below the limit of each.
    const keys = await Promise.all(
      [1, 2, 3, 4].map(() => deployment.createKey('principal', own.principalDid)),
    );
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, i) =>
        untilSettled(() => allocate({ agent: own.agent.did }, keys[i % keys.length])),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(new Set(answers.map(({ json }) => json.id)).size).toBe(100);
    const entries = answers.map(({ json }) => (json.credentialStatus as { id: string }).id);
    expect(new Set(entries).size).toBe(100);
  });

  it.each([
    [{}],
    [{ agent: 'did:web:a.example' }],
    [{ agent: 'did:key:z6Mk' }],
    [{ agent: 'did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme' }],
    [{ agent: null }],
    [{ agent: 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK', principal: 'x' }],
    [[]],
  ])('refuses %j with 400', async (body) => {
    const key = await deployment.createKey('principal', own.principalDid);
    expect((await allocate(body, key)).json.error).toBe('INVALID_REQUEST');
  });

  it('refuses an Agent with a small-order key with 400', async () => {
    const key = await deployment.createKey('principal', own.principalDid);
    for (const bytes of smallOrderEncodings())
      expect((await allocate({ agent: `did:key:${encodeMultikey(bytes)}` }, key)).status).toBe(400);
  });
});
