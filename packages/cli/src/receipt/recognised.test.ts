/** `svc-receipt verify` recognises its input, fetches what is missing, and gives one sentence as the result. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programFile } from '@svc/testkit/process/program-file';
import { attestTo, bundleOf, closeDayOf } from '@svc/testkit/receipts/closed-day';
import {
  buildWorld,
  documentOf,
  resign,
  SERVICE,
  serviceDocument,
  signerOf,
} from '@svc/testkit/receipts/world';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { run } from './run.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-receipt-'));
afterAll(() => rmSync(folder, { recursive: true }));
const write = (name: string, content: unknown): string => {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};

const world = await buildWorld();
const day = await closeDayOf(world);
const bundle = bundleOf(world, day);
const did = write('did.json', serviceDocument);
const files = {
  receipt: write('receipt.json', world.signed.text),
  jws: write('receipt.jwt', `${world.signed.jws}\n`),
  answer: write('answer.json', { receipt: JSON.parse(world.signed.text), outcomes: [] }),
  bundle: write('bundle.json', bundle),
};
const last = (text: string) => text.split('\n').at(-1);

describe('svc-receipt with an input of any kind', () => {
  it.each(Object.entries(files))('recognises a %s, with and without the word verify', async (kind, file) => {
    for (const words of [[], ['verify']]) {
      const { exitCode, stdout, stderr } = await run([...words, file, '--did-document', did]);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
      const inDay = kind === 'bundle' ? ', and has it in the checkpoint of 2026-11-20' : '';
      expect(last(stdout)).toMatch(
        new RegExp(`^It is genuine: ${SERVICE} allowed did:.* at did:web:shop.example at .*Z${inDay}[.]$`),
      );
    }
  });

  it('does not call an unauthenticated bundle invalid: exit code 2, and it says that the bundle agrees with itself', async () => {
    const { exitCode, stdout } = await run([files.bundle]);
    expect([exitCode, last(stdout)]).toEqual([
      2,
      expect.stringContaining('It agrees with itself and says that it is of'),
    ]);
    expect(stdout).not.toContain('INVALID');
    const text = await run(['verify', files.bundle, '--json']);
    expect(JSON.parse(text.stdout)).toMatchObject({
      verdict: 'undecided',
      kind: 'bundle',
      authenticated: false,
    });
  });

  it('exits with 1 for altered evidence, and says not to rely on it', async () => {
    for (const [name, text] of [
      ['altered.json', world.signed.text.replace('50000', '99999')],
      ['altered.jwt', `${world.signed.jws.slice(0, -6)}AAAAAA`],
      ['altered-bundle.json', JSON.stringify(bundle).replaceAll('50000', '99999')],
    ] as const) {
      const { exitCode, stdout } = await run([write(name, text), '--did-document', did]);
      expect([exitCode, last(stdout)], name).toEqual([1, expect.stringMatching(/^Do not rely on it: /)]);
    }
  });

  it.each<readonly [what: string, text: string, found: string]>([
    ['plain text', 'Dear auditor,\nplease find attached.\n', 'text, neither JSON nor a JWS'],
    ['a host name', 'www.svc.example\n', 'text, neither JSON nor a JWS'],
    ['an HTML page', '<!doctype html><title>Sign in</title>', 'an HTML or XML page'],
    ['a truncated Receipt', world.signed.text.slice(0, -40), 'JSON that breaks off'],
    ['a truncated bundle', JSON.stringify(bundle).slice(0, 900), 'JSON that breaks off'],
    ['a truncated JWS', world.signed.jws.slice(0, 300), 'a JWS that breaks off'],
    ['a list', `[${world.signed.text}]`, 'JSON, and no object'],
    ['an error of the API', '{"error":{"code":"NOT_FOUND"}}', 'a JSON object without a member of a Receipt'],
    ['an empty object', '{}', 'a JSON object without a member of a Receipt'],
    ['a day that is open', '{"receipt_id":"drc_1","day":"2026-11-20","status":"pending"}', 'not closed yet'],
  ])('exits with 2 for %s, and says what it found', async (_, text, found) => {
    const file = write('unknown', text);
    for (const words of [[file], ['verify', file], ['verify', '--bundle', file]]) {
      if (words.includes('--bundle') && text.includes('pending')) continue;
      const { exitCode, stdout, stderr } = await run([...words, '--did-document', did]);
      expect({ exitCode, stdout, stderr }).toEqual({
        ...{ exitCode: 2, stdout: '', stderr: expect.stringContaining(found) },
      });
    }
    const audited = ['audit', file, '--did-document', did, '--grant', did, '--proof', did, '--action', did];
    const { exitCode, stderr } = await run([...audited, '--proof-window', '60']);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(found)]);
  });

  it('says so where a bundle is given as the DID document', async () => {
    for (const file of [files.receipt, files.bundle]) {
      const { exitCode, stdout } = await run([file, '--did-document', files.bundle]);
      expect([exitCode, stdout]).toEqual([
        2,
        expect.stringContaining('this is a bundle; the DID document is'),
      ]);
    }
    const { exitCode, stderr } = await run([
      'monitor',
      'https://svc.example',
      '--did-document',
      files.bundle,
    ]);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('this is a bundle; the DID document is')]);
  });

  it.each<readonly [what: string, text: string]>([
    ['a duplicate member', world.signed.text.replace('{', '{"receipt":"x",')],
    ['a number in a form that the service never writes', world.signed.text.replace('50000', '5.0')],
    ['a member of another format', world.signed.text.replace('50000', '9').replace('{', '{"capability":1,')],
    [
      'members that say that it is pending',
      world.signed.text.replace('{', '{"status":"pending","day":"2026-11-20",'),
    ],
    ['no version', JSON.stringify({ ...JSON.parse(world.signed.text), receipt_version: undefined })],
    ['no signature', JSON.stringify({ ...JSON.parse(world.signed.text), receipt: undefined })],
    ['a JWS in quotation marks', `"${world.signed.jws.slice(0, -6)}AAAAAA"`],
    ['a header that cannot be read', `xxxx${world.signed.jws.slice(4)}`],
    ['a signature that breaks off', world.signed.jws.slice(0, -6)],
    ['a bundle without its Receipt', JSON.stringify({ ...bundle, receipt: undefined })],
    [
      'a bundle without its document',
      JSON.stringify({ ...bundle, did_document: undefined, attestation: 'x' }),
    ],
    ['a bundle with HTML as its inclusion proof', JSON.stringify({ ...bundle, inclusion: '<html>' })],
  ])('calls altered evidence invalid, not undecided, with %s', async (_, text) => {
    const { exitCode, stdout } = await run([write('altered', text), '--did-document', did]);
    expect([exitCode, last(stdout)]).toEqual([1, expect.stringMatching(/^Do not rely on it: /)]);
  });

  it('exits with 2 for a truncated inclusion proof, and with 1 where the Receipt is altered', async () => {
    const proof = ['--inclusion', write('cut.json', JSON.stringify(day.inclusion).slice(0, -9))];
    const cut = await run([files.receipt, '--did-document', did, ...proof]);
    expect([cut.exitCode, cut.stderr]).toEqual([2, expect.stringContaining('--inclusion cannot be read')]);
    const altered = write('altered.json', world.signed.text.replace('50000', '99999'));
    expect((await run([altered, '--did-document', did, ...proof])).exitCode).toBe(1);
  });

  it('audits a bundle that is given in place of the Receipt', async () => {
    const presented = [
      write('g', world.grant),
      write('p', world.proof),
      write('a', JSON.stringify(world.action)),
    ];
    const [grant = '', proof = '', action = ''] = presented;
    const words = ['--grant', grant, '--proof', proof, '--action', action, '--proof-window', '60'];
    const { exitCode } = await run(['audit', files.bundle, '--did-document', did, ...words]);
    expect(exitCode).toBe(0);
  });

  it('reads standard input without a command or an option', () => {
    const started = spawnSync(process.execPath, [programFile('packages/cli', 'svc-receipt.js')], {
      input: JSON.stringify(bundle),
      encoding: 'utf8',
    });
    expect([started.status, started.stdout]).toEqual([2, expect.stringContaining('It agrees with itself')]);
  });

  it('reads standard input after an option', () => {
    const parameters = [programFile('packages/cli', 'svc-receipt.js'), '--did-document', did];
    const input = JSON.stringify(bundle);
    const { status, stdout } = spawnSync(process.execPath, parameters, { input, encoding: 'utf8' });
    expect([status, last(stdout.trimEnd())]).toEqual([0, expect.stringMatching(/^It is genuine/)]);
  });

  it('ignores a byte order mark', async () => {
    const [plain, marked] = [JSON.stringify(bundle), `\uFEFF${JSON.stringify(bundle)}`].map((text, i) =>
      write(`marked-${i}.json`, text),
    );
    const answers = [plain, marked].map((file) => run([String(file), '--did-document', did]));
    const [one, other] = await Promise.all(answers);
    expect([other?.exitCode, last(other?.stdout ?? '')]).toEqual([one?.exitCode, last(one?.stdout ?? '')]);
    expect(one?.exitCode).toBe(0);
  });

  it('names a word that is neither a command nor a file', async () => {
    expect((await run(['verfy'])).stderr).toContain(
      'the command must be verify, audit or monitor, not verfy',
    );
  });

  it('prints verdict, members of the Receipt, checks and summary with --json', async () => {
    const { stdout } = await run([files.bundle, '--did-document', did, '--json']);
    const { receipt, ...told } = { receipt: world.body, ...JSON.parse(stdout) };
    expect(told).toMatchObject({
      ...{ verdict: 'valid', kind: 'bundle', authenticated: true, assumed: [], failures: [] },
      ...{
        decision: 'ALLOW',
        reason: null,
        receipt_id: receipt.receipt_id,
        evaluated_at: receipt.evaluated_at,
      },
      ...{ relying_party: receipt.relying_party, principal: receipt.principal, agent: receipt.agent },
      ...{ grant_id: receipt.grant_id, expires_at: receipt.expires_at, authority: receipt.authority },
      ...{ kid: `${SERVICE}#receipt-2`, attestation: null, checkpoint: day.checkpoint },
      checks: { failed: [], skipped: expect.any(Array), passed: expect.arrayContaining(['P1', 'T1']) },
      summary: expect.stringContaining('It is genuine'),
    });
  });
});

describe('svc-receipt audit --bundle', () => {
  const presented = [
    ...[
      '--did-document',
      did,
      '--grant',
      write('grant', world.grant),
      '--proof',
      write('proof', world.proof),
    ],
    ...['--action', write('action', JSON.stringify(world.action)), '--proof-window', '60'],
  ];

  it('takes the Receipt and the evidence from the bundle, and runs the engine again', async () => {
    const { exitCode, stdout } = await run(['audit', '--bundle', files.bundle, ...presented]);
    expect([exitCode, last(stdout)]).toEqual([0, expect.stringContaining('the engine decides the same')]);
  });

  it('accepts a Receipt whose key has leaked with the attestation in its bundle, and is undecided without', async () => {
    const attestation = await attestTo({ id: world.body.receipt_id, jws: world.signed.jws }, day);
    const verificationMethod = serviceDocument.verificationMethod.map((method) =>
      method.id.endsWith('#receipt-2') ? { ...method, revoked: '2026-12-01T00:00:00Z' } : method,
    );
    const leaked = write('leaked-did.json', { ...serviceDocument, verificationMethod });
    const words = presented.map((word) => (word === did ? leaked : word));
    const audited = async (name: string, content: object) =>
      run(['audit', '--bundle', write(name, content), ...words]);
    const { exitCode, stdout } = await audited('attested.json', { ...bundle, attestation });
    expect([exitCode, last(stdout)]).toEqual([0, expect.stringContaining('the engine decides the same')]);
    expect(stdout).toContain(`attested by    ${SERVICE}#status-1 at 2026-12-01T00:00:01Z\n`);
    expect((await audited('unattested.json', bundle)).exitCode).toBe(2);
  });

  it('refuses a bundle that is signed with other keys than the pinned document has', async () => {
    const receipt = JSON.parse(await resign(world.body, () => {}, signerOf(8, `${SERVICE}#receipt-2`)));
    const closed = await closeDayOf(world, { signer: signerOf(9, `${SERVICE}#status-1`) });
    const own = documentOf(SERVICE, { 'receipt-2': 8, 'status-1': 9 });
    const forged = write('forged.json', { ...bundleOf(world, closed), receipt, did_document: own });
    const { exitCode, stdout } = await run(['audit', '--bundle', forged, ...presented, '--json']);
    expect([exitCode, JSON.parse(stdout).verdict]).toEqual([1, 'invalid']);
  });
});

describe('svc-receipt --fetch', () => {
  const serve = new Map<string, string>();
  const asked: string[] = [];
  let server: Server;
  let host: string;
  let own: Awaited<ReturnType<typeof ownReceipt>>;
  beforeAll(async () => {
    server = createServer((request, response) => {
      asked.push(`${request.url} ${request.headers.authorization ?? ''}`.trim());
      const text = serve.get(request.url ?? '');
      response.writeHead(text === undefined ? 404 : 200).end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    host = `localhost%3A${(server.address() as AddressInfo).port}`;
    own = await ownReceipt();
  });
  afterAll(() => new Promise((resolve) => server.close(resolve)));

  /** A Receipt of the service whose host this is. */
  const ownReceipt = async () => {
    const service = `did:web:${host}`;
    const text = await resign(world.body, () => {}, signerOf(3, `${service}#receipt-1`));
    serve.set('/.well-known/did.json', JSON.stringify(documentOf(service, { 'receipt-1': 3 })));
    serve.set('/receipt.json', text);
    return { service, file: write('own.json', text) };
  };

  it('fetches the DID document of the named service and the inclusion proof', async () => {
    const { exitCode, stdout } = await run([own.file, '--service-did', own.service, '--fetch']);
    expect([exitCode, last(stdout)]).toEqual([0, expect.stringContaining(`It is genuine: ${own.service}`)]);
    expect(asked).toEqual(['/.well-known/did.json', `/decisions/${world.body.receipt_id}/inclusion`]);
  });

  it.each([
    ['has no proof of inclusion', undefined, 'http://localhost:PORT answered 404'],
    [
      'says that the day is not closed',
      '{"receipt_id":"drc_1","day":"2026-11-20","status":"pending"}',
      'http://localhost:PORT says that its day is not closed yet',
    ],
  ])('says so where the service %s, and decides that only with --require-inclusion', async (_, text, why) => {
    const path = `/decisions/${world.body.receipt_id}/inclusion`;
    if (text !== undefined) serve.set(path, text);
    const words = [own.file, '--service-did', own.service, '--fetch'];
    const said = why.replace('PORT', String((server.address() as AddressInfo).port));
    const plain = await run(words);
    expect(plain.exitCode).toBe(0);
    expect(plain.stdout).toContain(`included in    not shown: ${said}\n`);
    expect(last(plain.stdout)).toContain('but did not show that it is in the checkpoint of its day');
    const json = await run([...words, '--json']);
    expect(JSON.parse(json.stdout)).toMatchObject({ verdict: 'valid', inclusion_not_shown: said });
    const strict = await run([...words, '--require-inclusion']);
    expect([strict.exitCode, strict.stdout]).toEqual([2, '']);
    expect(strict.stderr).toContain(said);
    serve.delete(path);
  });

  it('exits with 1 for an altered Receipt also where --require-inclusion finds no proof', async () => {
    const altered = write('altered.json', String(serve.get('/receipt.json')).replace('ALLOW', 'DENY'));
    const words = [altered, '--service-did', own.service, '--fetch', '--require-inclusion'];
    expect((await run(words)).exitCode).toBe(1);
  });

  it('does not take the service from the Receipt: exit code 2 without --service-did', async () => {
    const { exitCode, stdout } = await run([own.file, '--fetch']);
    expect(exitCode).toBe(2);
    expect(stdout).toContain('ITS SERVICE IS NOT AUTHENTICATED');
    // There is no bundle.
    expect(stdout).not.toMatch(/bundle/i);
    expect((await run([own.file, '--fetch', '--allow-unauthenticated'])).exitCode).toBe(0);
  });

  it('does not advise to obtain the document again where it has just fetched it', async () => {
    const before = serve.get('/.well-known/did.json') ?? '';
    serve.set('/.well-known/did.json', JSON.stringify(documentOf(own.service, { 'receipt-2': 3 })));
    const receipt = JSON.parse(serve.get('/receipt.json') ?? '');
    for (const file of [own.file, write('own-bundle.json', { ...bundle, receipt })]) {
      const { stdout } = await run([file, '--service-did', own.service, '--fetch']);
      expect(stdout).toContain(`no verification method ${own.service}#receipt-1; the document was fetched`);
      expect(stdout).not.toContain('obtain it again');
    }
    serve.set('/.well-known/did.json', before);
  });

  it.each(['/.well-known/did.json', `/decisions/${world.body.receipt_id}/inclusion`])(
    'exits with 2 where %s returns an HTML page, and says so',
    async (path) => {
      const before = serve.get(path);
      serve.set(path, '<!doctype html><title>Sign in</title>');
      const { exitCode, stdout, stderr } = await run([own.file, '--service-did', own.service, '--fetch']);
      if (before === undefined) serve.delete(path);
      else serve.set(path, before);
      expect([exitCode, stdout, stderr]).toEqual([
        2,
        '',
        expect.stringContaining(`${path} answered 200 and no JSON object: this is an HTML or XML page`),
      ]);
    },
  );

  it('accepts a URL as its input', async () => {
    const address = `http://localhost:${(server.address() as AddressInfo).port}`;
    const { exitCode } = await run([`${address}/receipt.json`, '--service-did', own.service, '--fetch']);
    expect(exitCode).toBe(0);
    expect((await run([`${address}/none`, '--fetch'])).stderr).toContain('answered 404');
    expect((await run(['http://svc.example/receipt.json', '--fetch'])).stderr).toContain('must be https');
  });
});
