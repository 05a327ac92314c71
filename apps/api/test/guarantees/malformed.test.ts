/**
 * Sends thousands of malformed bodies and headers over HTTP: every answer is a documented one, never a fault, and the
 * process keeps running.
 */

import { sampled } from '@svc/testkit/sampled';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { randomSlug, withOwnDeployment } from '../world/deployment.ts';
import { ACTION, type HeldGrant, issueGrant, type Tenants, verifyBody } from '../world/tenants.ts';

/** Every failure names the seed; the same seed gives the same cases. */
const SEED = Math.floor(Math.random() * 2 ** 31);
const CASES = sampled({ quick: 24, deep: 700 });
const CALLS_PER_KEY = 100;
const AT_ONCE = 4;

// A deep run sends more than a subject or an org may send in a minute.
const deployment = withOwnDeployment({ SVC_SUBJECT_PER_MINUTE: '100000', SVC_ORG_PER_MINUTE: '100000' });
let orgId: string;
let tenants: Tenants;
/** A relying party that no other case uses, since some changes to it succeed. */
let patchedDid: string;
let grant: HeldGrant;
let valid: Awaited<ReturnType<typeof verifyBody>>;

beforeAll(async () => {
  orgId = await deployment.createOrg();
  tenants = await deployment.createTenants({ orgId, rp: { verify_rate_limit_per_minute: 1_000_000 } });
  patchedDid = (await deployment.createTenants({ orgId })).rpDid;
  grant = await issueGrant(tenants);
  valid = await verifyBody(tenants, grant);
});

/** JSON texts to put where another type belongs. */
const WRONG = [
  ...['null', 'true', '0', '-1', '1.5', '1e400', '-0', '9007199254740993', '""', '[]', '{}', '[[[]]]'],
  ...[
    '"\\u0000"',
    '"\\ud800"',
    '"\\ud83d\\ude00"',
    '"did:web:"',
    '"../../etc"',
    `"'; drop table grants; --"`,
    '"%00"',
  ],
  ...[
    '{"__proto__":{"a":1}}',
    '{"a":1,"a":2}',
    '{"constructor":{"prototype":{}}}',
    '{"toString":null,"length":-1}',
  ],
  ...[
    `"${'x'.repeat(5000)}"`,
    `${'['.repeat(200)}${']'.repeat(200)}`,
    '\u2028',
    'NaN',
    'undefined',
    "'x'",
    '',
  ],
];

/** A text near a valid one: a member is replaced, added, doubled or left out, or the text itself is damaged. */
const near = (body: () => object): fc.Arbitrary<() => string> => {
  const wrong = fc.oneof(
    fc.constantFrom(...WRONG),
    fc.json({ maxDepth: 3 }),
    fc.string({ unit: 'binary' }).map((text) => JSON.stringify(text)),
  );
  const change = fc.record({ at: fc.nat(), wrong, how: fc.nat(3) });
  const damage = fc.record({
    at: fc.nat(),
    length: fc.nat(40),
    insert: fc.string({ unit: 'binary', maxLength: 8 }),
  });
  return fc
    .record({
      changes: fc.array(change, { minLength: 1, maxLength: 2 }),
      damage: fc.option(damage, { freq: 3 }),
    })
    .map(({ changes, damage }) => () => {
      let text = JSON.stringify(body());
      for (const one of changes) text = changeMember(text, one);
      if (damage === null) return text;
      const at = damage.at % (text.length + 1);
      return text.slice(0, at) + damage.insert + text.slice(at + damage.length);
    });
};

/** Finds members in the text, at any depth, so that values can be inserted that JSON.stringify cannot write. */
const changeMember = (
  text: string,
  { at, wrong, how }: { at: number; wrong: string; how: number },
): string => {
  const members = [...text.matchAll(/"([A-Za-z_]+)":("(?:[^"\\]|\\.)*"|[0-9]+|true|false|null)/g)];
  const member = members[at % Math.max(1, members.length)];
  if (member === undefined) return wrong;
  const [whole, name] = member;
  const put =
    [`"${name}":${wrong}`, `${whole},${whole}`, `${whole},"more":${wrong}`, `"x${name}":${wrong}`][how] ?? '';
  return text.slice(0, member.index) + put + text.slice(member.index + whole.length);
};

interface Target {
  readonly method: string;
  readonly path: () => string;
  readonly role: 'rp' | 'principal' | 'org:admin';
  readonly subject: () => string;
  readonly body: () => object;
}

const accessOf = ({ grant: presented, proof }: typeof valid) => ({
  subject: { type: 'agent', id: tenants.agent.did, properties: { grant: presented, proof } },
  action: { name: ACTION.type, properties: { amount: ACTION.amount, currency: ACTION.currency } },
  resource: { type: 'order', id: ACTION.resource },
});

const principalKeys = [{ publicKeyMultibase: 'z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK' }];
const TARGETS: Readonly<Record<string, Target>> = {
  verify: {
    method: 'POST',
    path: () => '/verify',
    role: 'rp',
    subject: () => tenants.rpDid,
    body: () => valid,
  },
  evaluateAccesses: {
    method: 'POST',
    path: () => '/access/v1/evaluations',
    role: 'rp',
    subject: () => tenants.rpDid,
    body: () => ({
      evaluations: [accessOf(valid), accessOf(valid)],
      options: { evaluations_semantic: 'deny_on_first_deny' },
    }),
  },
  allocateGrant: {
    method: 'POST',
    path: () => '/grants',
    role: 'principal',
    subject: () => tenants.principalDid,
    body: () => ({ agent: tenants.agent.did }),
  },
  revokeGrant: {
    method: 'POST',
    path: () => '/revoke',
    role: 'principal',
    subject: () => tenants.principalDid,
    body: () => ({ grant_id: `urn:svc:grant:${'0'.repeat(26)}` }),
  },
  createPrincipal: {
    method: 'POST',
    path: () => '/principals',
    role: 'org:admin',
    subject: () => orgId,
    body: () => ({ kind: 'managed', slug: randomSlug('p'), keys: principalKeys, org_id: orgId }),
  },
  createRelyingParty: {
    method: 'POST',
    path: () => '/relying-parties',
    role: 'org:admin',
    subject: () => orgId,
    body: () => ({
      kind: 'hosted',
      did: `did:web:${randomSlug('h')}.example`,
      name: 'A',
      proof_window_seconds: 60,
      profile: 'svc-base-v1',
    }),
  },
  updateRelyingParty: {
    method: 'PATCH',
    path: () => `/relying-parties/${patchedDid}`,
    role: 'org:admin',
    subject: () => orgId,
    body: () => ({ name: 'A', proof_window_seconds: 60, verify_rate_limit_per_minute: 1_000_000 }),
  },
};

/** Sends the calls of one target, a few concurrently, each group with a key of its own. */
const sendAll = async (
  target: Target,
  texts: readonly (() => string)[],
  headers: readonly Record<string, string>[] = [],
) => {
  const answers: { text: string; status: number; answer: string }[] = [];
  for (let start = 0; start < texts.length; start += CALLS_PER_KEY) {
    const key = await deployment.createKey(target.role, target.subject());
    const stretch = texts
      .slice(start, start + CALLS_PER_KEY)
      .map((text, i) => ({ rawBody: text(), headers: headers[start + i] ?? {} }));
    let next = 0;
    const client = async () => {
      for (let one = stretch[next++]; one !== undefined; one = stretch[next++]) {
        const { status, text } = await deployment.call(target.method, target.path(), { key, ...one });
        answers.push({ text: one.rawBody, status, answer: text });
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
  }
  return answers;
};

describe.each(Object.entries(TARGETS))('%s', (_id, target) => {
  it(`answers ${CASES} malformed bodies (seed ${SEED}) with documented statuses below 429`, async () => {
    const texts = fc.sample(near(target.body), { numRuns: CASES, seed: SEED });
    const answers = await sendAll(target, texts);
    expect(answers.filter(({ status }) => status >= 429)).toEqual([]);
    expect(answers).toHaveLength(CASES);
    expect(answers.map(({ status }) => status)).toContain(400);
  });
});

it('verify allows a changed request only if its JSON equals the original', async () => {
  const body = await verifyBody(tenants, grant);
  const texts = fc.sample(
    near(() => ({ ...body, action: { ...ACTION } })),
    { numRuns: CASES, seed: SEED + 1 },
  );
  const target = TARGETS.verify;
  if (target === undefined) throw new Error('no target');
  for (const { text, answer } of await sendAll(target, texts))
    if (answer.includes('"decision":"ALLOW"')) expect(JSON.parse(text)).toEqual(body);
});

it('verify answers unusual headers with 200, 400 or 409', async () => {
  const header = fc.record({
    'content-type': fc.constantFrom(
      'application/json',
      'text/html',
      'multipart/form-data; boundary=x',
      '',
      ';;',
    ),
    'idempotency-key': fc.oneof(
      fc.constant(''),
      fc.string({ minLength: 0, maxLength: 70 }).filter((text) => /^[\x20-\x7e]*$/.test(text)),
    ),
    accept: fc.constantFrom('*/*', 'text/html', 'image/png;q=x'),
    'content-encoding': fc.constantFrom('identity', 'gzip', 'br', 'x'),
    'x-forwarded-for': fc.constantFrom('', ',,,', 'unknown', '999.1.1.1', '::1', '2001:db8::1, 10.0.0.1'),
    'accept-language': fc.string({ maxLength: 20 }).filter((text) => /^[\x20-\x7e]*$/.test(text)),
  });
  const headers = fc.sample(header, { numRuns: sampled({ quick: 60, deep: 300 }), seed: SEED });
  const target = TARGETS.verify;
  if (target === undefined) throw new Error('no target');
  const answers = await sendAll(
    target,
    headers.map(() => () => JSON.stringify({ grant: '', proof: '', action: {} })),
    headers,
  );
  expect(answers.filter(({ status }) => ![200, 400, 409].includes(status))).toEqual([]);
});

it('afterwards the process still decides and is healthy, and its log has no warnings or errors', async () => {
  const body = await verifyBody(tenants, grant);
  expect((await deployment.call('POST', '/verify', { key: tenants.rpKey, body })).json.decision).toBe(
    'ALLOW',
  );
  expect((await deployment.call('GET', '/healthz')).status).toBe(200);
  // Levels from 40 on are warnings and errors; a line that is not JSON is Node's own.
  const told = deployment.process.log
    .filter((line) => !/^\{"level":[123]0,/.test(line))
    // The org of these tests has no plan.
    .filter((line) => !line.includes('"entitlement.not_covered"'))
    // A machine that is busy with other tests opens connections slowly.
    .filter((line) => !line.includes('no connection was open within'));
  expect(told).toEqual([]);
});
