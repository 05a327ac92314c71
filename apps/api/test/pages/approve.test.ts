/** `/approve`: the tab checks the request and signs the answer, with a key that cannot be used without its owner. */

import {
  createPrincipalClient,
  generatePrincipalKey,
  type PrincipalKey,
  signerFromJwk,
} from '@svc/sdk-principal';
import { agentFromJwk, generateAgentKey } from '@svc/sdk-principal/agent';
import { isDeep, sampleOf } from '@svc/testkit/sampled';
import type { CDPSession, Page } from 'playwright-core';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ask, DEAR, insertDue, read, reject, verifyAction } from '../world/approvals.ts';
import { freshAddress } from '../world/contract-call.ts';
import { randomSlug, withSeparateNodes } from '../world/deployment.ts';
import { type HeldGrant, issueGrant, type Tenants } from '../world/tenants.ts';
import { hasBrowser, inspect, NARROW, withBrowser } from './browser.ts';
import { doesNothingByEnter } from './open-dashboard.ts';

const deployment = withSeparateNodes();
const { visit } = withBrowser('the approval page');
let tenants: Tenants & { readonly principalJwk: PrincipalKey['privateJwk'] };
let held: HeldGrant;
beforeAll(async () => {
  if (!hasBrowser) return;
  const key = await generatePrincipalKey();
  const keys = [key.registration];
  const { did, key: apiKey } = await deployment.register('/principals', {
    kind: 'managed',
    slug: randomSlug('p'),
    keys,
  });
  const signer = signerFromJwk(key.privateJwk, `${did}#key-1`);
  tenants = {
    ...(await deployment.createTenants({ rp: { profile: 'svc-base-v2' } })),
    principalDid: did,
    principalKey: apiKey,
    principalJwk: key.privateJwk,
    principal: createPrincipalClient({ baseUrl: deployment.process.baseUrl, apiKey, signer }),
  };
});
// A new Agent and key for each test: five requests about an Agent may be rejected in a day, and the calls of a key in a
// minute are limited.
beforeEach(async () => {
  if (!hasBrowser) return;
  const agent = agentFromJwk((await generateAgentKey()).privateJwk);
  const principalKey = await deployment.createKey('principal', tenants.principalDid);
  tenants = { ...tenants, agent, principalKey };
  held = await issueGrant(tenants);
});

let orders = 0;
const askedIds: string[] = [];
const askNew = async () => {
  orders += 1;
  const asked = await ask(deployment, tenants, held, { ...DEAR, resource: `order/p${orders}` });
  askedIds.push(asked.id);
  return asked;
};
// Only a few requests about an Agent may wait. A request that is decided by now stays decided.
afterEach(async () => {
  for (const id of askedIds.splice(0))
    await deployment.call('POST', `/access/v1/requests/${id}/cancel`, { key: tenants.rpKey });
});

/** A passkey belongs to a host name, not to an address. */
const originOf = () => deployment.process.baseUrl.replace('127.0.0.1', 'localhost');

/** Opens the request in a browser with an authenticator whose clock is ahead by `aheadMs`. */
const open = async (id: string, key = tenants.principalKey, aheadMs = 0) => {
  const origin = originOf();
  const visited = await visit(origin, { extraHTTPHeaders: { 'x-forwarded-for': freshAddress() } });
  const { page } = visited;
  if (aheadMs > 0) await page.clock.install({ time: Date.now() + aheadMs });
  await page.goto(`${origin}/approve#${id}`);
  await page.getByLabel('API key of your Principal').fill(key);
  await page.getByRole('button', { name: 'Show what is asked' }).click();
  return visited;
};

interface Authenticator {
  setUserVerified(isUserVerified: boolean): Promise<void>;
}

const addAuthenticator = async (page: Page, hasPrf: boolean): Promise<Authenticator> => {
  const session: CDPSession = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      ctap2Version: 'ctap2_1',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
      hasPrf,
    },
  });
  return {
    setUserVerified: async (isUserVerified) => {
      await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
    },
  };
};

const bring = async (page: Page, how: 'passkey' | 'passphrase', passphrase = 'correct horse battery') => {
  await page.getByLabel('Private key, as a JWK').fill(JSON.stringify(tenants.principalJwk));
  if (how === 'passphrase') await page.getByLabel(/passphrase/i).fill(passphrase);
  await page.getByRole('button', { name: `Keep it behind a ${how}` }).click();
  await page.getByRole('button', { name: 'Approve and sign' }).waitFor();
};
const removeKey = async (page: Page) => {
  await page.getByRole('button', { name: 'Remove the signing key' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
  await page.getByRole('heading', { name: 'Bring your signing key' }).waitFor();
};
/** Whether it is in view on a phone, where most of the page is not. */
const isInView = async (page: Page, text: string | RegExp) => {
  const box = await page.getByRole('alert').getByText(text).boundingBox();
  return box !== null && box.y >= 0 && box.y + box.height <= NARROW.height;
};
const approve = (page: Page) => page.getByRole('button', { name: 'Approve and sign' }).click();
const approveWith = async (page: Page, passphrase: string) => {
  await page.getByLabel('Passphrase').fill(passphrase);
  await approve(page);
  await page.getByRole('heading', { name: 'Approved' }).waitFor();
};
const grantsOf = async () =>
  Number(
    (await deployment.sql.query('select count(*) from grants where principal = $1', [tenants.principalDid]))
      .rows[0]?.count,
  );

describe.skipIf(!hasBrowser)('the approval page', () => {
  it('shows the Action that the Agent signed, keeps the key with a passkey, and approves with a Grant that is allowed once', async () => {
    const { id, capability } = await askNew();
    const { page, expectQuiet } = await open(id);
    await page
      .getByRole('heading', { name: /^May your Agent spend up to USD 900\.00 at [^/]+, once\?$/ })
      .waitFor();
    expect(await page.locator('bdo').textContent()).toMatch(/^order\/p\d+$/);
    await page.getByText(/You can answer until.* UTC, \d+ (minute|hour|day)s? from now/).waitFor();
    await page.getByText('Your Agent signed for exactly this').waitFor();
    await page.getByText(/A customer of .* has chosen this name, and nothing about who that is/).waitFor();
    await inspect(page, 'approve-bring', 'none');
    await addAuthenticator(page, true);
    await bring(page, 'passkey');
    await page.getByText('Guarded by your passkey.').waitFor();
    await inspect(page, 'approve');
    await approve(page);
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    await inspect(page, 'approve-done', 'none');
    const revoke = page.getByRole('link', { name: 'revoke it' });
    expect(await revoke.getAttribute('href')).toBe('dashboard#view=grants');
    const { json } = await read(deployment, tenants, id);
    const { grant, grant_id } = json.result as { grant: string; grant_id: string };
    const action = { ...DEAR, resource: String(capability.resources?.[0]) };
    const used = { grant, grantId: grant_id };
    expect((await verifyAction(deployment, tenants, used as HeldGrant, action)).decision).toBe('ALLOW');
    expect((await verifyAction(deployment, tenants, used as HeldGrant, action)).decision).toBe('DENY');
    expectQuiet();
  });

  it.each(
    sampleOf(
      [
        ['passkey with PRF', true, 'Guarded by your passkey.'],
        ['passkey without', false, 'Guarded by asking'],
      ] as const,
      1,
    ),
  )('signs with a %s if the user is verified, and signs nothing otherwise', async (_what, hasPrf, guard) => {
    const [first, second] = [await askNew(), await askNew()];
    const { page } = await open(first.id);
    const authenticator = await addAuthenticator(page, hasPrf);
    await bring(page, 'passkey');
    await page.getByText(guard).waitFor();
    await approve(page);
    await page.getByRole('heading', { name: 'Approved' }).waitFor();
    await authenticator.setUserVerified(false);
    await page.goto(`${originOf()}/approve#${second.id}`);
    await page.getByText(guard).waitFor();
    const before = await grantsOf();
    await approve(page);
    await page.getByText('has not confirmed that it is you').waitFor();
    const { text } = await reject(deployment, tenants, second.id);
    expect([await grantsOf(), text]).toEqual([before, expect.stringContaining('"denied"')]);
  });

  it.runIf(isDeep)(
    'encrypts the stored key with a passphrase, refuses another passphrase, and does not store the plain key',
    async () => {
      const { id } = await askNew();
      const { page } = await open(id);
      await bring(page, 'passphrase');
      const kept = await page.evaluate(KEPT);
      expect(kept).toContain('passphrase');
      expect(kept).not.toContain(tenants.principalJwk.d);
      expect(await page.getByRole('textbox', { name: /JWK/ }).count()).toBe(0);
      await page.getByLabel('Passphrase').fill('another passphrase');
      await approve(page);
      await page.getByText('This is not the passphrase. Nothing was signed.').waitFor();
      await page.reload();
      await page.getByLabel('Passphrase').fill('correct horse battery');
      await approve(page);
      await page.getByRole('heading', { name: 'Approved' }).waitFor();
    },
  );

  it.runIf(isDeep)('shows an error in view on a small screen, and removes it with the key', async () => {
    const { id } = await askNew();
    const { page } = await open(id);
    await page.setViewportSize(NARROW);
    await bring(page, 'passphrase');
    const wrong = 'This is not the passphrase. Nothing was signed.';
    await page.getByLabel('Passphrase').fill('another passphrase');
    await approve(page);
    await page.getByText(wrong).waitFor();
    expect(await isInView(page, wrong)).toBe(true);
    await inspect(page, 'approve-wrong');
    await removeKey(page);
    expect(await page.getByText(wrong).count()).toBe(0);
    await bring(page, 'passphrase');
    await approveWith(page, 'correct horse battery');
  });

  it('removes the signing key after a confirmation, and not before', async () => {
    const { id } = await askNew();
    const { page, expectQuiet } = await open(id);
    await bring(page, 'passphrase');
    await doesNothingByEnter(page, page.getByRole('button', { name: 'Remove the signing key' }));
    await page.getByRole('button', { name: 'Approve and sign' }).waitFor();
    expect(await page.evaluate(KEPT)).toContain('passphrase');
    await removeKey(page);
    expect(await page.evaluate(KEPT)).toBe('[]');
    expectQuiet();
  });

  it('looks again for a request that could not be read', async () => {
    const { id } = await askNew();
    const origin = originOf();
    const { page } = await visit(origin, { extraHTTPHeaders: { 'x-forwarded-for': freshAddress() } });
    await page.route(/\/access-requests\/arq_/, (route) => route.fulfill({ status: 403, json: {} }), {
      times: 1,
    });
    await page.goto(`${origin}/approve#${id}`);
    await page.getByLabel('API key of your Principal').fill(tenants.principalKey);
    await page.getByRole('button', { name: 'Show what is asked' }).click();
    await page.getByRole('alert').getByText(/./).waitFor();
    await page.getByRole('button', { name: 'Look again' }).click();
    await page.getByRole('heading', { name: /^May your Agent/ }).waitFor();
    expect(await page.getByRole('alert').getByText(/./).count()).toBe(0);
  });

  it('refuses a key that is not published under its kid, and allocates no Grant for it', async () => {
    const { id } = await askNew();
    const { page } = await open(id);
    const before = await grantsOf();
    const keep = async (jwk: object, kid: string) => {
      await page.getByLabel('Private key, as a JWK').fill(JSON.stringify(jwk));
      await page.getByLabel(/^Published as/).fill(kid);
      await page.getByLabel(/passphrase/i).fill('correct horse battery');
      await page.getByRole('button', { name: 'Keep it behind a passphrase' }).click();
    };
    const kid = `${tenants.principalDid}#key-1`;
    await keep((await generatePrincipalKey()).privateJwk, kid);
    await page.getByRole('alert').getByText(`This is not the key published as ${kid}.`).waitFor();
    await inspect(page, 'approve-other-key', 'none');
    await keep(tenants.principalJwk, `${tenants.principalDid}#key-2`);
    await page.getByRole('alert').getByText(`There is: ${kid}.`).waitFor();
    expect(await page.getByRole('button', { name: 'Approve and sign' }).count()).toBe(0);
    await keep(tenants.principalJwk, kid);
    await page.getByRole('button', { name: 'Approve and sign' }).waitFor();
    expect(await grantsOf()).toBe(before);
    await approveWith(page, 'correct horse battery');
  });

  it.runIf(isDeep)('says that a URL is incomplete, and links to all pending requests', async () => {
    const origin = originOf();
    const { page, expectQuiet } = await visit(origin);
    await page.goto(`${origin}/approve#arq_01KAGT`);
    await page.getByLabel('API key of your Principal').fill(tenants.principalKey);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'This address is incomplete' }).waitFor();
    await inspect(page, 'approve-incomplete');
    await page.getByRole('link', { name: 'all that waits' }).click();
    await page.getByRole('heading', { name: 'What waits for your answer' }).waitFor();
    expectQuiet();
  });

  const lies: readonly [string, (request: Lie) => void, RegExp][] = [
    ['a smaller amount than the Agent signed for', describe5, /signed for another Action/],
    [
      'another relying party',
      (request) => {
        request.relying_party = 'did:web:shop.example';
      },
      /another relying party/,
    ],
    [
      'another Agent',
      (request) => {
        request.agent = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK';
      },
      /another Agent/,
    ],
    [
      'no Proof',
      (request) => {
        request.proof = null;
      },
      /without the Proof/,
    ],
  ];
  it.each(sampleOf(lies, 1))(
    'warns if the service describes %s, does not show the request, and offers no approval',
    async (_what, lie, doubt) => {
      const { id } = await askNew();
      const origin = originOf();
      const { page } = await visit(origin);
      await page.route(/\/access-requests\/arq_/, async (route) => {
        const response = await route.fetch();
        const json = (await response.json()) as Lie;
        lie(json);
        await route.fulfill({ response, json });
      });
      await page.goto(`${origin}/approve#${id}`);
      await page.getByLabel('API key of your Principal').fill(tenants.principalKey);
      await page.getByRole('button', { name: 'Show what is asked' }).click();
      await page.getByRole('heading', { name: 'Do not approve this' }).waitFor();
      await page.getByText(doubt).waitFor();
      expect(await page.getByRole('button', { name: /Approve and sign|Keep it behind/ }).count()).toBe(0);
      expect(await page.getByText(/spend up to/).count()).toBe(0);
      await inspect(page, 'approve-doubt', 'none');
    },
  );

  it.runIf(isDeep)(
    'with a browser clock ahead polls every half minute, keeps an error message, and ignores a late answer after a rejection',
    async () => {
      const { id } = await askNew();
      const { page } = await open(id, tenants.principalKey, 27 * 3_600_000);
      await page.getByRole('button', { name: 'Reject' }).waitFor();
      await page.getByRole('heading', { name: 'Look at the clock of this computer' }).waitFor();
      expect(await page.getByText('Tell whoever operates the service').count()).toBe(0);
      await page.route('**/reject', (route) => route.abort());
      await page.getByRole('button', { name: 'Reject' }).click();
      // The client library repeats a lost call until its deadline.
      await page.clock.fastForward(10_000);
      const failure = page.getByRole('alert').getByText(/./);
      await failure.waitFor();
      const asked: string[] = [];
      page.on('request', (request) => asked.push(request.url()));
      await page.clock.fastForward(10_000);
      await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
      expect(asked).toEqual([]);
      await page.clock.fastForward(15_000);
      await expect.poll(() => asked.filter((url) => url.endsWith(id)).length).toBe(1);
      await expect.poll(() => asked.some((url) => url.endsWith('/did.json'))).toBe(true);
      expect(await failure.count()).toBe(1);
      let letGo = () => {};
      const answered = new Promise<void>((resolve) => {
        letGo = resolve;
      });
      const pending = new Promise<void>((resolve) =>
        page.route(new RegExp(`${id}$`), async (route) => {
          const response = await route.fetch();
          resolve();
          await answered;
          await route.fulfill({ response });
        }),
      );
      await page.clock.fastForward(35_000);
      await pending;
      await page.unroute('**/reject');
      await page.getByRole('button', { name: 'Reject' }).click();
      await page.getByRole('heading', { name: 'Rejected' }).waitFor();
      const late = page.waitForResponse(/did\.json$/);
      letGo();
      await (await late).finished();
      for (let i = 0; i < 5; i++)
        await page.evaluate('new Promise((resolve) => requestAnimationFrame(resolve))');
      expect(await page.getByRole('heading', { name: 'Rejected' }).count()).toBe(1);
    },
  );

  it('rejects a request with a reason that the relying party can read', async () => {
    const { id } = await askNew();
    const { page } = await open(id);
    await page.getByLabel(/^Why/).fill('Not this month.');
    await page.getByRole('button', { name: 'Reject' }).click();
    await page.getByRole('heading', { name: 'Rejected' }).waitFor();
    expect((await read(deployment, tenants, id)).json).toMatchObject({
      task: { status: 'denied' },
      reason: 'Not this month.',
    });
  });

  it.runIf(isDeep)(
    'shows expired and rejected requests, and refuses invalid keys and keys of another DID or class',
    async () => {
      const { id } = await askNew();
      const due = await insertDue(deployment, id);
      const { page } = await open(due);
      await page.getByRole('heading', { name: 'Expired' }).waitFor();
      await page.goto(`${originOf()}/approve#${id}`);
      const wrong = JSON.stringify({ ...tenants.principalJwk, d: tenants.principalJwk.x });
      await page.getByLabel('Private key, as a JWK').fill(wrong);
      await page.getByLabel(/passphrase/i).fill('correct horse battery');
      await page.getByRole('button', { name: 'Keep it behind a passphrase' }).click();
      await page.getByText(/does not belong|not an Ed25519 private key/).waitFor();
      await page.getByLabel('Private key, as a JWK').fill(JSON.stringify(tenants.principalJwk));
      await page.getByLabel(/^Published as/).fill('did:web:other.example#key-1');
      await page.getByRole('button', { name: 'Keep it behind a passphrase' }).click();
      await page.getByText('This key is of did:web:other.example').waitFor();
      await reject(deployment, tenants, id);
      await page.reload();
      await page.getByRole('heading', { name: 'Rejected' }).waitFor();
      await askNew();
      await page.getByRole('link', { name: 'All that waits' }).click();
      await page.getByRole('heading', { name: 'What waits for your answer' }).waitFor();
      await page.getByText('nothing of it is checked yet').waitFor();
      await inspect(page, 'approve-list');
      await page.getByRole('button', { name: 'Forget the API key' }).click();
      await page.getByLabel('API key of your Principal').fill(tenants.rpKey);
      await page.getByRole('button', { name: 'Open' }).click();
      await page.getByText('The key of a Principal is needed').waitFor();
    },
  );

  it.runIf(isDeep)(
    'says in view on a small screen that a request was rejected meanwhile and that the Grant is revoked',
    async () => {
      const { id } = await askNew();
      const { page } = await open(id);
      await page.setViewportSize(NARROW);
      await bring(page, 'passphrase');
      await reject(deployment, tenants, id);
      await page.getByLabel('Passphrase').fill('correct horse battery');
      await approve(page);
      await page.getByText(/is denied already.*is revoked/).waitFor();
      await page.getByRole('heading', { name: 'Rejected' }).waitFor();
      // The card with the button is gone: the message is above, and scrolled into view.
      await expect.poll(() => isInView(page, /is denied already/)).toBe(true);
    },
  );
});

interface Lie {
  relying_party: string;
  agent: string;
  proof: string | null;
  action: { amount: number };
  capability: { constraints: { maxAmount: number } };
}

function describe5(request: Lie): void {
  request.action.amount = 500;
  request.capability.constraints.maxAmount = 500;
}

/** The whole content of the page's database, as text. */
const KEPT = `new Promise((resolve, reject) => {
  const opening = indexedDB.open('svc-approve');
  opening.onerror = reject;
  opening.onsuccess = () => {
    const all = opening.result.transaction('keys').objectStore('keys').getAll();
    all.onsuccess = () => {
      opening.result.close();
      resolve(JSON.stringify(all.result, (_, value) =>
        value instanceof ArrayBuffer || ArrayBuffer.isView(value)
          ? new TextDecoder('latin1').decode(value)
          : value));
    };
  };
})`;
