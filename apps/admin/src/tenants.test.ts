import { readLine } from '@svc/cli/command-line';
import { parseConfig } from '@svc/config';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { PROGRAM } from './program.ts';

/** Runs the command as `main.ts` does. */
const run = async (env: Readonly<Record<string, string>>, ...words: string[]): Promise<number> => {
  const line = readLine(PROGRAM, words);
  if (line.kind !== 'command') throw new Error('no command');
  return line.command.run(line.values, env, line.operands[0] ?? '');
};
const create = ['org', 'create', 'x', '--name', 'X'];
const TOKEN = { SVC_ADMIN_TOKEN: 'test-admin-token-0123456789abcdefghij' };

afterEach(() => vi.restoreAllMocks());

describe('a registration by svc-admin', () => {
  it.each<[object, string[]]>([
    [
      {
        ...{ kind: 'managed', slug: 's', name: 'Shop', profile: 'svc-base-v2' },
        ...{ proof_window_seconds: 90, verify_rate_limit_per_minute: 1200, org_id: 'org_1' },
      },
      [
        ...['relying-party', 'create', '--slug', 's', '--name', 'Shop', '--profile', 'svc-base-v2'],
        ...['--proof-window', '90', '--verify-rate-limit', '1200', '--org', 'org_1'],
      ],
    ],
    [
      { kind: 'hosted', did: 'did:web:shop.example' },
      ['relying-party', 'create', '--did', 'did:web:shop.example'],
    ],
    [
      {
        ...{ kind: 'managed', slug: 'p' },
        keys: [{ publicKeyMultibase: 'z6MkA' }, { id: 'next', publicKeyMultibase: 'z6MkB' }],
      },
      ['principal', 'create', '--slug', 'p', '--key', 'z6MkA', '--key', 'next=z6MkB'],
    ],
  ])('sends what the options say, and leaves the rest to the API: %j', async (body, words) => {
    const sent = vi.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json({}, { status: 201 }));
    vi.spyOn(console, 'log').mockReturnValue();
    expect(await run(TOKEN, ...words, '--api', 'https://svc.example')).toBe(0);
    expect(JSON.parse(String(sent.mock.calls[0]?.[1]?.body))).toEqual(body);
  });

  it.each([
    [['org', 'create', 'x', '--name', 'X'], 'ORG_ID=org_1'],
    [['org', 'key', 'org_1'], 'SVC_ORG_KEY=dk_1'],
    [['principal', 'create', '--did', 'did:web:a'], 'PRINCIPAL_DID=did:web:a\nSVC_PRINCIPAL_KEY=dk_1'],
    [['relying-party', 'create', '--did', 'did:web:a'], 'SHOP_DID=did:web:a\nSVC_RP_KEY=dk_1'],
  ])(
    'prints with --env the lines of an environment file that the service accepts: %j',
    async (words, lines) => {
      const answer = { org_id: 'org_1', did: 'did:web:a', api_key: 'dk_1', created_at: 'x' };
      vi.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json(answer, { status: 201 }));
      const shown = vi.spyOn(console, 'log').mockReturnValue();
      expect(await run(TOKEN, ...words, '--env', '--api', 'https://svc.example')).toBe(0);
      expect(shown.mock.calls).toEqual([[lines]]);
      const env = Object.fromEntries(lines.split('\n').map((line) => line.split('=')));
      expect(parseConfig(env)).toMatchObject({ ok: true });
    },
  );

  it('is refused if --proof-window is not a whole number', () =>
    expect(run(TOKEN, 'relying-party', 'create', '--slug', 's', '--proof-window', '1m')).rejects.toThrow(
      '--proof-window must be a whole number, not 1m',
    ));

  const INVALID = /is not an address: begin it with https:\/\/, or with http:\/\/ for this machine/;
  it.each<[string, object, string, string | RegExp]>([
    [
      'without the admin token',
      {},
      'https://svc.example',
      'neither SVC_ADMIN_TOKEN nor SVC_ADMIN_TOKEN_FILE is set',
    ],
    [
      'over plain http to another host, where the token could be read on the way',
      TOKEN,
      'http://svc.example',
      'must be https',
    ],
    ['to an address without a scheme', TOKEN, 'svc.example', INVALID],
    ['to an address whose host reads as a scheme', TOKEN, 'localhost:8080', INVALID],
    ['to an address without a host', TOKEN, 'https://', INVALID],
  ])('is refused before any request is sent: %s', async (_, env, api, message) => {
    const sent = vi.spyOn(globalThis, 'fetch').mockResolvedValue(Response.json({}, { status: 201 }));
    await expect(run({ ...env }, ...create, '--api', api)).rejects.toThrow(message);
    expect(sent).not.toHaveBeenCalled();
  });

  it.each([
    [
      401,
      '{"error":"UNAUTHORIZED","message":"The key is unknown or revoked."}',
      "SVC_ADMIN_TOKEN is not this service's admin token",
    ],
    [
      400,
      '{"error":"INVALID_REQUEST","message":"body.keys[0].publicKeyMultibase must be z6Mk."}',
      '--key must be z6Mk.',
    ],
    [
      400,
      '{"error":"INVALID_REQUEST","message":"keys[0].publicKeyMultibase: must be z6Mk."}',
      '--key must be z6Mk.',
    ],
    [409, '{"error":"CONFLICT","message":"Slug is taken."}', 'Slug is taken.'],
    [502, '<html>', '<html>'],
  ])('reports in one sentence why the API refused it: %d %s', async (status, text, told) => {
    vi.spyOn(globalThis, 'fetch').mockResolvedValue(new Response(text, { status }));
    const said = vi.spyOn(console, 'error').mockReturnValue();
    expect(await run(TOKEN, ...create, '--api', 'https://svc.example')).toBe(1);
    expect(said.mock.calls).toEqual([[`https://svc.example/orgs answered ${status}: ${told}`]]);
  });

  it('reports the address that did not answer', () =>
    expect(run(TOKEN, ...create, '--api', 'http://127.0.0.1:1')).rejects.toThrow(
      'http://127.0.0.1:1 did not answer',
    ));
});
