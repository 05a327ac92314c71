import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { expect, it } from 'vitest';
import { type Confirmer, createConfirmer, createWhenConfirmed, MAX_QUESTION_CHARS } from './confirm.ts';
import { createServer } from './server.ts';
import { createTeller } from './tool-result.ts';
import { quoted } from './tools/authority.ts';

/** A confirmer of a server whose client cannot ask its user. */
const confirmer = async (
  byToken: boolean,
  now = () => 0,
  client = new Client({ name: 'client', version: '1.0.0' }),
): Promise<Confirmer> => {
  const { server } = new McpServer({ name: 'server', version: '1.0.0' });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours as never);
  await client.connect(theirs as never);
  return createConfirmer({ server, byToken, now });
};
const intent = { tool: 'revoke_grant', question: 'Revoke it?', input: { grant_id: 'a' } };
const tokenOf = async (from: Confirmer): Promise<string> => {
  const asked = await from.confirm(intent, undefined);
  return asked.kind === 'asked' ? asked.token : '';
};

it('a client that cannot ask its user confirms nothing, unless confirmation by token is on', async () => {
  const strict = await confirmer(false);
  for (const token of [undefined, 'x'])
    expect(await strict.confirm(intent, token)).toMatchObject({
      kind: 'refused',
      says: expect.stringContaining('--confirm-by-token'),
    });
  expect(await tokenOf(await confirmer(true))).toMatch(/^[\w-]{24}$/);
});

const clientWith = (
  elicitation: { form?: Record<string, unknown>; url?: object },
  reply?: () => object,
): Client => {
  const client = new Client({ name: 'client', version: '1.0.0' }, { capabilities: { elicitation } });
  if (reply !== undefined) client.setRequestHandler(ElicitRequestSchema, () => reply() as never);
  return client;
};

it('a client that can ask is asked, whatever the token, and only an accept with confirm: true confirms', async () => {
  const answers: [reply: () => object, kind: string][] = [
    [() => ({ action: 'accept', content: { confirm: true } }), 'confirmed'],
    [() => ({ action: 'accept', content: { confirm: false } }), 'refused'],
    [() => ({ action: 'accept', content: { confirm: 'true' } }), 'refused'],
    [() => ({ action: 'accept' }), 'refused'],
    [() => ({ action: 'decline', content: { confirm: true } }), 'refused'],
    [() => ({}), 'refused'],
    [
      () => {
        throw new Error('closed');
      },
      'refused',
    ],
  ];
  for (const [reply, kind] of answers) {
    const { confirm } = await confirmer(true, () => 0, clientWith({ form: {} }, reply));
    for (const token of [undefined, 'x']) expect((await confirm(intent, token)).kind).toBe(kind);
  }
});

it('one question is asked at a time, and another is refused meanwhile', async () => {
  let answer: (said: object) => void = () => undefined;
  const asked: string[] = [];
  const client = new Client(
    { name: 'client', version: '1.0.0' },
    { capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler(ElicitRequestSchema, ({ params: { message } }) => {
    asked.push(message);
    return new Promise((resolve) => {
      answer = resolve as never;
    }) as never;
  });
  const { confirm } = await confirmer(false, () => 0, client);
  const first = confirm(intent, undefined);
  await expect.poll(() => asked.length).toBe(1);
  expect(await confirm(intent, undefined)).toMatchObject({ says: expect.stringContaining('something else') });
  answer({ action: 'accept', content: { confirm: true } });
  expect(await first).toEqual({ kind: 'confirmed' });
  const next = confirm(intent, undefined);
  await expect.poll(() => asked.length).toBe(2);
  answer({ action: 'decline' });
  expect((await next).kind).toBe('refused');
});

it('a client with URL elicitation only cannot ask', async () => {
  const { confirm } = await confirmer(false, () => 0, clientWith({ url: {} }));
  expect(await confirm(intent, undefined)).toMatchObject({ says: expect.stringContaining('cannot ask') });
});

it('a token confirms one tool with one input, once, within five minutes', async () => {
  let nowMs = 0;
  const { confirm } = await confirmer(true, () => nowMs);
  const kinds = async (...calls: (readonly [typeof intent, string])[]) => {
    const answers: string[] = [];
    for (const [what, token] of calls) answers.push((await confirm(what, token)).kind);
    return answers;
  };
  const fresh = () => tokenOf({ confirm });
  const first = await fresh();
  expect(await kinds([intent, first], [intent, first])).toEqual(['confirmed', 'refused']);
  expect(await kinds([{ ...intent, tool: 'issue_grant' }, await fresh()])).toEqual(['refused']);
  const other = await fresh();
  expect(await kinds([{ ...intent, input: { grant_id: 'b' } }, other], [intent, other])).toEqual([
    'refused',
    'refused',
  ]);
  const kept = await fresh();
  nowMs = 300_001;
  expect(await kinds([intent, kept])).toEqual(['refused']);
});

it('at most sixteen tokens are held, and the oldest is dropped', async () => {
  const one = await confirmer(true);
  const tokens: string[] = [];
  for (let i = 0; i < 17; i++) tokens.push(await tokenOf(one));
  const answers = await Promise.all(tokens.map(async (token) => (await one.confirm(intent, token)).kind));
  expect(answers).toEqual(['refused', ...Array(16).fill('confirmed')]);
});

it('a question that is too long is not confirmed', async () => {
  const long = { ...intent, question: 'x'.repeat(MAX_QUESTION_CHARS + 1) };
  expect((await (await confirmer(true)).confirm(long, undefined)).kind).toBe('refused');
});

it('a question by token is shown whole, with its line breaks', async () => {
  const whenConfirmed = createWhenConfirmed(await confirmer(true), createTeller([]));
  const question = `Issue a Grant?\n${'harmless\n'.repeat(400)}Everything, for ever`;
  expect(question.length).toBeGreaterThan(3_000);
  const told = await whenConfirmed({ ...intent, question }, undefined, () => expect.fail('not confirmed'));
  expect(told.structuredContent.question).toBe(question);
  expect(told.content[0]?.text).toContain(`question: ${question}\nconfirm_token: `);
});

it('what a question quotes stands on one line, in characters that can be seen and told apart', () => {
  // Invisible: a note head, a hieroglyph and a filler. Also a Cyrillic letter, a line break and repeated spaces.
  const odd = ['\u{1d159}', '\u{13441}', '\u{16fe4}', '\u3164', '\u0430', '\n', '\u202e', '   '];
  for (const one of odd) expect(quoted(`a${one}b`)).toMatch(/^a(?:\\[\w{}]+)+ ?b$/);
  expect(quoted('order/7 of {"a":1}')).toBe('order/7 of {"a":1}');
});

it('a server offers tools that change something only where started so, and tools that sign only with a signer', async () => {
  const toolsOf = async (writes: boolean, signer?: { kid: string; sign: () => Uint8Array }) => {
    const principal = { baseUrl: 'https://svc.example', apiKey: 'dk_pr_secret', signer: signer as never };
    const others = { trust: undefined, relyingParty: undefined, confirmsByToken: false, secrets: [] };
    const server = createServer({ ...others, principal, writes });
    const [ours, theirs] = InMemoryTransport.createLinkedPair();
    const client = new Client({ name: 'client', version: '1.0.0' });
    await Promise.all([server.connect(ours as never), client.connect(theirs as never)]);
    return (await client.listTools()).tools.map(({ name }) => name).sort();
  };
  const reads = ['grant_budgets', 'list_approvals', 'list_decisions', 'list_grants'];
  const signer = { kid: 'did:web:a.example#key-1', sign: () => new Uint8Array(64) };
  expect(await toolsOf(false, signer)).toEqual(reads);
  expect(await toolsOf(true)).toEqual([...reads, 'reject_request', 'revoke_grant']);
  const signs = ['approve_request', 'issue_grant'];
  expect(await toolsOf(true, signer)).toEqual([...signs, 'reject_request', 'revoke_grant', ...reads].sort());
});
