import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFile } from '@svc/testkit/process/program-file';
import { budgeted, capabilityOf, logOf, pageOf } from '@svc/testkit/receipts/budgets';
import {
  buildWorld,
  documentOf,
  PURCHASE,
  resign,
  SERVICE,
  serviceDocument,
  signerOf,
} from '@svc/testkit/receipts/world';
import { afterAll, describe, expect, it } from 'vitest';
import { silentTerminal } from '../terminal.ts';
import { MAX_INPUT_BYTES, readEvidence } from './inputs.ts';
import { run } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-receipt-'));
afterAll(() => rmSync(folder, { recursive: true }));

const write = (name: string, text: string | Buffer): string => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

const allow = await buildWorld();
const deny = await buildWorld({ revoked: true });
const allowFile = write('allow.json', allow.signed.text);
const denyFile = write('deny.json', deny.signed.text);
const tampered = allow.signed.text.replace('50000', '99999').replace('"PASS"', '"FAIL"');
const tamperedFile = write('tampered.json', tampered);
const didFile = write('did.json', JSON.stringify(serviceDocument));
const otherDidFile = write(
  'other.json',
  JSON.stringify(documentOf('did:web:other.example', { 'receipt-2': 1 })),
);
const laterFile = write(
  'later.json',
  await resign(allow.body, (draft) => {
    draft.protocol.profile = 'svc-base-v9';
  }),
);

mkdirSync(join(folder, 'evidence'));
[...deny.evidence.values()].forEach((text, i) => void write(join('evidence', String(i)), text));
const tokens = [
  ...['--grant', write('grant', `${deny.grant}\n`), '--proof', write('proof', deny.proof)],
  ...['--action', write('action.json', JSON.stringify(deny.action)), '--did-document', didFile],
];
const audit = ['audit', ...tokens, '--evidence', join(folder, 'evidence'), '--proof-window', '60'];

/** Runs the program as a separate process. */
const start = (args: readonly string[], stdin = '', env: NodeJS.ProcessEnv = {}) => {
  const done = spawnSync(process.execPath, [programFile('packages/cli', 'svc-receipt.js'), ...args], {
    input: stdin,
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
  return { exitCode: done.status, stdout: done.stdout, stderr: done.stderr };
};

describe('svc-receipt as a process', () => {
  it('exits with 0 for a valid Receipt and prints its main facts without colours', () => {
    const { exitCode, stdout, stderr } = start(['verify', denyFile, '--did-document', didFile]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^VALID\n {2}decision {7}DENY AUTHORITY_REVOKED\n/);
    for (const shown of ['did:web:acme.example (domain)', 'did:web:shop.example', 'failed: P6', '#receipt-2'])
      expect(stdout).toContain(shown);
  });

  it('exits with 1 for an altered Receipt on standard input and names every failure', () => {
    const { exitCode, stdout } = start(['verify', '--did-document', didFile], tampered);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^INVALID\n/);
    for (const named of ['/authority/constraints/maxAmount must be 50000', '/protocol/result must be "PASS"'])
      expect(stdout).toContain(named);
  });

  it('exits with 2 where nobody reads its standard output', async () => {
    const unread = spawn(
      process.execPath,
      [programFile('packages/cli', 'svc-receipt.js'), 'verify', allowFile, '--did-document', didFile],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    unread.stdout.destroy();
    expect(await once(unread, 'exit')).toEqual([2, null]);
  });

  it('prints one JSON object for audit --json', () => {
    const { exitCode, stdout } = start([...audit, '-', '--json'], deny.signed.text);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'valid',
      decision: 'DENY',
      failures: [],
      differences: [],
    });
  });
});

describe('svc-receipt exits with 2', () => {
  it('for a file that cannot be read, and says so on standard error', async () => {
    const { exitCode, stdout, stderr } = await run(['verify', 'no-such-file', '--did-document', didFile]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('no-such-file cannot be read: there is no such file');
  });

  it('for a service DID whose host is not a valid name, and says so in JSON with --json', async () => {
    const service = 'did:web:xn--a.example';
    const signer = signerOf(1, `${service}#receipt-1`);
    const unheard = write('unheard.json', await resign(allow.body, () => {}, signer));
    for (const args of [[unheard], [allowFile, '--service-did', service]]) {
      const { exitCode, stdout } = await run(['verify', ...args, '--fetch', '--json']);
      expect(exitCode).toBe(2);
      expect(JSON.parse(stdout)).toEqual({
        verdict: 'undecided',
        error: `--fetch needs the did:web DID of a service, not ${service}`,
      });
    }
  });

  it('on an unexpected exception, which it reports on standard error, and in JSON too with --json', async () => {
    const broken = () => {
      throw new TypeError('no stop\u001b');
    };
    const monitor = ['monitor', 'https://svc.example', '--did-document', didFile];
    const ended = (...args: string[]) => run([...monitor, ...args], { ...silentTerminal, stop: broken });
    const { exitCode, stdout, stderr } = await ended('--json');
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toEqual({ verdict: 'undecided', error: 'TypeError: no stop\\u{1b}' });
    expect(stderr).toMatch(/^TypeError: no stop\\u\{1b\}\n {4}at /);
    expect(await ended()).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: expect.stringContaining('no stop'),
    });
  });
});

describe('a DID document that is older than the key of the Receipt', () => {
  const older = write('older.json', JSON.stringify(documentOf(SERVICE, { 'receipt-1': 7, 'status-1': 2 })));

  it('leaves the Receipt undecided: exit code 2, and the summary says to obtain the document again', async () => {
    for (const name of ['verify', 'audit']) {
      const args = name === 'verify' ? ['verify'] : audit.filter((one) => one !== didFile);
      const given = name === 'verify' ? args : args.filter((one) => one !== '--did-document');
      const { exitCode, stdout } = await run([...given, denyFile, '--did-document', older, '--json']);
      expect(exitCode).toBe(2);
      expect(JSON.parse(stdout)).toMatchObject({
        ...{ verdict: 'undecided', decision: null, failures: [{ code: 'unknown-key' }] },
        summary: expect.stringMatching(/^It could not be decided: .* obtain it again over a channel/),
      });
    }
  });

  it('does not make an altered Receipt undecided: exit code 1', async () => {
    expect((await run(['verify', tamperedFile, '--did-document', older])).exitCode).toBe(1);
  });
});

describe('svc-receipt verify', () => {
  const verify = (...args: string[]) => run(['verify', ...args]);

  it('answers --json with the verdict and the failures', async () => {
    const { exitCode, stdout } = await verify(tamperedFile, '--did-document', didFile, '--json');
    expect(exitCode).toBe(1);
    const { verdict, decision, failures } = JSON.parse(stdout);
    expect({ verdict, decision }).toEqual({ verdict: 'invalid', decision: null });
    expect(failures).toContainEqual(
      expect.objectContaining({ code: 'payload-mismatch', path: '/protocol/result' }),
    );
  });

  it('exits with 1 under the document of another service, or with another --service-did', async () => {
    expect((await verify(allowFile, '--did-document', otherDidFile)).exitCode).toBe(1);
    const named = ['--did-document', didFile, '--service-did'];
    expect((await verify(allowFile, ...named, 'did:web:svc.example')).exitCode).toBe(0);
    expect((await verify(allowFile, ...named, 'did:web:other.example')).exitCode).toBe(1);
  });

  it('exits with 2 for a profile of a later version, or under a file that is no DID document', async () => {
    expect((await verify(laterFile, '--did-document', didFile)).exitCode).toBe(2);
    expect((await verify(allowFile, '--did-document', write('empty', '[]'))).exitCode).toBe(2);
    const swapped = await verify(allowFile, '--did-document', allowFile);
    expect(swapped.exitCode).toBe(2);
    expect(swapped.stdout).toContain('this is a Receipt');
  });

  it.each([
    ['profile', 'svc-base-v1', (draft) => (draft.protocol.profile_hash = draft.grant_hash)],
    [
      'trust configuration',
      'svc-trust-config-1',
      (draft) => (draft.evidence.trust_config_hash = draft.grant_hash),
    ],
  ] satisfies readonly (readonly [string, string, Parameters<typeof resign>[1]])[])(
    'exits with 2 for a correctly signed Receipt whose %s has an unknown hash, and with 1 where that is altered',
    async (_, name, change) => {
      const text = await resign(allow.body, change);
      const file = write('later-hash.json', text);
      const { exitCode, stdout } = await verify(file, '--did-document', didFile);
      expect(exitCode).toBe(2);
      expect(stdout).toMatch(
        new RegExp(`the hash of ${name} must be .* known to this version; a later one may know it`),
      );
      // An alteration is always invalid: of what is shown, of what was signed, of the signer.
      const altered = text.replace('"maxAmount":50000', '"maxAmount":99999');
      const [head = '', payload = '', signature = ''] = JSON.parse(text).receipt.split('.');
      const hash = JSON.parse(text)[name === 'svc-base-v1' ? 'protocol' : 'evidence'];
      const other = Buffer.from(
        Buffer.from(payload, 'base64url')
          .toString()
          .replaceAll(hash.profile_hash ?? hash.trust_config_hash, `sha256:${'0'.repeat(64)}`),
      ).toString('base64url');
      const resigned = await resign(allow.body, change, signerOf(9, `${SERVICE}#receipt-2`));
      for (const wrong of [altered, `${head}.${other}.${signature}`, resigned]) {
        expect(wrong).not.toBe(text);
        expect((await verify(write('altered.json', wrong), '--did-document', didFile)).exitCode).toBe(1);
      }
    },
  );

  it('prints colours only where the terminal allows them', async () => {
    const coloured = await run(['verify', allowFile, '--did-document', didFile], {
      ...silentTerminal,
      colours: true,
    });
    expect(coloured.stdout).toContain('\u001b[32mVALID\u001b[0m');
    expect((await verify(allowFile, '--did-document', didFile)).stdout).not.toContain('\u001b');
  });

  it('escapes characters that could move the cursor or forge a line', async () => {
    const hostile = write('hostile.json', JSON.stringify({ '\u001b[2J\nVALID\u202e': 1, receipt: 'x' }));
    const { exitCode, stdout } = await verify(hostile, '--did-document', didFile);
    expect(exitCode).toBe(1);
    expect(stdout).not.toMatch(/(?!\n)\p{C}|^VALID/mu);
    expect(stdout).toContain('\\u{1b}[2J\\u{a}VALID\\u{202e}');
  });

  it('escapes characters that move the cursor or change the writing direction in JSON too, and keeps the values', async () => {
    const name = '\u007f\u009b2J\u202e\u2028\u{e0041}\u001b';
    const hostile = write('hostile-json.json', JSON.stringify({ [name]: 1, receipt: 'x' }));
    const { exitCode, stdout } = await verify(hostile, '--did-document', didFile, '--json');
    expect(exitCode).toBe(1);
    expect(stdout).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u);
    expect(JSON.parse(stdout).failures).toContainEqual(
      expect.objectContaining({ path: expect.stringContaining(name) }),
    );
  });
});

describe('the answer of GET /decisions/{receipt_id}', () => {
  const wrap = (receipt: string, more: object = {}) =>
    JSON.stringify({ receipt: JSON.parse(receipt), outcomes: [], ...more });

  it('is accepted in place of its Receipt by verify and audit', async () => {
    const file = write('decision.json', wrap(deny.signed.text));
    expect((await run(['verify', file, '--did-document', didFile])).exitCode).toBe(0);
    expect((await run([...audit, file])).exitCode).toBe(0);
  });

  it('is checked as its Receipt is: an altered Receipt or a further member exits with 1', async () => {
    const changed = write('changed.json', wrap(tampered));
    expect((await run(['verify', changed, '--did-document', didFile])).exitCode).toBe(1);
    const more = write('more.json', wrap(deny.signed.text, { more: 1 }));
    expect((await run(['verify', more, '--did-document', didFile])).exitCode).toBe(1);
  });
});

describe('svc-receipt audit', () => {
  it('lists what rests on the word of the service alone', async () => {
    const { exitCode, stdout } = await run([...audit, denyFile]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain("On the service's word alone:\n  * the issuer was a registered Principal");
  });

  it('exits with 1 and names the check that the engine evaluates differently', async () => {
    const { exitCode, stdout } = await run([...audit, '--proof-window', '2', denyFile]);
    expect(exitCode).toBe(1);
    expect(stdout).toContain('/protocol/checks/P13 must be false by the engine, not true');
  });

  it('exits with 2 without the evidence, and names what is missing', async () => {
    const { exitCode, stdout } = await run(['audit', ...tokens, '--proof-window', '60', denyFile]);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/^COULD NOT DECIDE/);
    expect(stdout.match(/missing-evidence/g)).toHaveLength(2);
    expect(stdout.match(/GET \/evidence\/sha256:/g)).toHaveLength(2);
  });

  it('passes over what else is in a directory of evidence, however large or malformed it is', async () => {
    mkdirSync(join(folder, 'untidy'));
    write('untidy/.DS_Store', Buffer.from('00000001427564310000ff', 'hex'));
    write('untidy/backup.tar', Buffer.alloc(5_000_000));
    [...deny.evidence.values()].forEach((text, i) => void write(`untidy/${i}`, text));
    const args = ['audit', ...tokens, '--proof-window', '60', '--evidence', join(folder, 'untidy'), denyFile];
    expect((await run(args)).exitCode).toBe(0);
  });

  it('keeps of the evidence only what the Receipt names', async () => {
    const wanted = new Set([...deny.evidence.keys()].slice(0, 1));
    const { texts } = await readEvidence([write('other', 'text'), join(folder, 'evidence')], wanted);
    expect([...texts.keys()]).toEqual([...wanted]);
  });

  it('says why it could not read a file of a directory that is named as evidence of the Receipt', async () => {
    const hash = deny.body.evidence.status?.credential_hash ?? '';
    mkdirSync(join(folder, 'broken'));
    const file = write(`broken/${hash.replace('sha256:', '')}`, Buffer.alloc(5_000_000));
    const args = ['audit', ...tokens, '--proof-window', '60', '--evidence', join(folder, 'broken'), denyFile];
    const { exitCode, stdout } = await run(args);
    expect(exitCode).toBe(2);
    expect(stdout).toContain(`- missing-evidence: evidence ${file} must be at most 4194304 bytes`);
  });

  it('names an evidence file whose content does not have the hash in its name', async () => {
    const hash = deny.body.evidence.status?.credential_hash ?? '';
    const name = `${hash.replace(':', '-')}.jwt`;
    const text = `${deny.evidence.get(hash)}\n`;
    const file = write(name, text);
    const [document] = deny.evidence.values();
    const args = ['audit', ...tokens, '--proof-window', '60', '--evidence', file];
    const right = ['--evidence', write('document', document ?? '')];
    const { exitCode, stdout } = await run([...args, ...right, denyFile]);
    expect(exitCode).toBe(2);
    const has = createHash('sha256').update(text).digest('hex');
    expect(stdout).toContain(
      `- missing-evidence: the evidence file ${file} has hash sha256:${has}, not ${hash}\n`,
    );
  });

  it('reports first that the given Proof is another one', async () => {
    const other = [...audit, '--proof', write('other-proof', deny.grant), denyFile];
    const { exitCode, stdout } = await run(other);
    expect(exitCode).toBe(1);
    expect(stdout.split('\n')[1]).toMatch(
      /^ {2}- other-proof: the Proof given is not the one of this Receipt/,
    );
    expect(stdout).not.toContain('by the engine');
  });
});

describe('svc-receipt audit of an Action', async () => {
  const refused = await buildWorld({ action: {}, proof: { action: { ...PURCHASE } } });
  const free = { type: 'commerce:purchase', resource: 'order/8841', amount: 0, currency: 'USD' };
  const forNothing = await buildWorld({ action: free });
  const auditOf = (name: string, { signed, grant, proof, evidence }: typeof allow, action: string) =>
    run([
      ...['audit', write(`${name}.json`, signed.text), '--did-document', didFile, '--proof-window', '60'],
      ...['--grant', write(`${name}-grant`, grant), '--proof', write(`${name}-proof`, proof)],
      ...['--action', write(`${name}-action`, action)],
      ...[...evidence.values()].flatMap((text, i) => ['--evidence', write(`${name}-${i}`, text)]),
    ]);

  it.each([
    ['a fraction', '{"type":"commerce:purchase","resource":"order/8841","amount":42700.0,"currency":"USD"}'],
    [
      'a duplicate member',
      '{"type":"commerce:purchase","resource":"order/8841","amount":1,"amount":42700,"currency":"USD"}',
    ],
  ])('with %s confirms the DENY ACTION_MALFORMED', async (_, action) => {
    expect(refused.body.reason).toBe('ACTION_MALFORMED');
    expect(await auditOf('refused', refused, action)).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('with the amount -0 confirms the ALLOW for 0', async () => {
    expect(forNothing.body.decision).toBe('ALLOW');
    const action = JSON.stringify(free).replace('"amount":0', '"amount":-0');
    expect(await auditOf('for-nothing', forNothing, action)).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('svc-receipt audit of an ALLOW that consumed a budget', async () => {
  const capability = capabilityOf({ maxTotal: 100_000 });
  const uses = [
    { capability, amount: 100, agoMs: 2_000 },
    { capability, amount: 200, agoMs: 1_000 },
  ];
  const consumed = await buildWorld(budgeted([capability], uses));
  const pinned = consumed.body.evidence.consumption?.snapshot_hash;
  const evidence = [...consumed.evidence].flatMap(([hash, text], i) =>
    hash === pinned ? [] : ['--evidence', write(`consumed-${i}`, text)],
  );
  const args = [
    ...['audit', write('consumed.json', consumed.signed.text), '--did-document', didFile],
    ...[
      '--grant',
      write('consumed-grant', consumed.grant),
      '--proof',
      write('consumed-proof', consumed.proof),
    ],
    ...['--action', write('consumed-action', JSON.stringify(consumed.action)), '--proof-window', '60'],
    ...evidence,
  ];
  const page = (name: string, from: number, to: number) => {
    const log = logOf([...uses, { capability, amount: 42_700, agoMs: 0 }]);
    return ['--consumption', write(name, JSON.stringify(pageOf(log, from, to)))];
  };

  it('replays the balances from the pages of the consumption', async () => {
    const pages = [...page('newest', 2, 3), ...page('oldest', 1, 1)];
    expect(await run([...args, ...pages])).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('exits with 2 without all pages, and says where to get them', async () => {
    const { exitCode, stdout } = await run([...args, ...page('newest', 2, 3)]);
    expect(exitCode).toBe(2);
    expect(stdout).toContain('GET /grants/{id}/consumption');
  });

  it('refuses a file that is no answer of GET /grants/{id}/consumption', async () => {
    const { exitCode, stderr } = await run([...args, '--consumption', write('list', '[]')]);
    expect(exitCode).toBe(2);
    expect(stderr).toContain('must be an answer of GET /grants/{id}/consumption');
  });
});

describe('svc-receipt refuses with exit code 2', () => {
  const large = write('large', Buffer.alloc(MAX_INPUT_BYTES + 1, 0x20));
  it.each<readonly [string, readonly string[], string]>([
    ['no command', [], 'no command is named'],
    ['another command', ['sign'], 'not sign'],
    ['an unknown option', ['verify', '--network'], 'svc-receipt: there is no option --network\n'],
    ['an unknown short option', ['verify', '-x'], 'there is no option -x\n'],
    [
      'an option without its value',
      ['verify', '--did-document'],
      '--did-document must be followed by a value',
    ],
    ['an option for a value', ['audit', '--grant', '--proof', 'x'], 'by a value, not --proof'],
    ['a value where none belongs', ['verify', '--json=1'], '--json takes no value'],
    ['an empty file', ['verify', write('nothing', ''), '--did-document', didFile], 'nothing, is empty'],
    ['an empty document', ['verify', allowFile, '--did-document', write('blank', ' \n')], 'blank, is empty'],
    [
      "another command's option",
      ['verify', '--did-document', didFile, '--grant', 'x'],
      'verify has no option --grant',
    ],
    ['no document', ['verify', allowFile], '--did-document must name a file'],
    ['two Receipts', ['verify', 'a', 'b', '--did-document', didFile], 'one Receipt'],
    ['one input for two', ['verify', '--did-document', '-'], 'only one input can be -'],
    ['no Grant', ['audit', '--did-document', didFile], '--grant must name a file'],
    ['no window', ['audit', ...tokens], '--proof-window must be'],
    ['a window of 301 s', [...audit, '--proof-window', '301'], 'not 301'],
    ['no such evidence', [...audit, '--evidence', 'none', denyFile], 'there is no such file'],
    [
      'an Action that is no JSON',
      [...audit, '--action', didFile.replace('did.json', 'grant'), denyFile],
      'the Action must be JSON',
    ],
    ['a directory', ['verify', folder, '--did-document', didFile], 'it is a directory'],
    ['too long a file', ['verify', large, '--did-document', didFile], `at most ${MAX_INPUT_BYTES} bytes`],
    [
      'a file that is no text',
      ['verify', write('binary', Buffer.from([0xff])), '--did-document', didFile],
      'must be UTF-8',
    ],
  ])('%s', async (_, args, problem) => {
    const { exitCode, stdout, stderr } = await run(args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(problem);
  });

  it('in JSON where --json is given', async () => {
    const { exitCode, stdout } = await run(['verify', '--json']);
    expect(exitCode).toBe(2);
    expect(JSON.parse(stdout)).toMatchObject({
      verdict: 'undecided',
      error: expect.stringContaining('--did-document'),
    });
  });
});

describe('svc-receipt', () => {
  it('answers --help and --version', async () => {
    expect((await run(['--help'])).stdout).toContain('svc-receipt verify');
    expect(await run(['-v'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+/),
    });
  });
});
