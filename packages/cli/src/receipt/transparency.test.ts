import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeMultikey } from '@svc/protocol';
import { attestTo, bundleOf, closeDayOf } from '@svc/testkit/receipts/closed-day';
import {
  buildWorld,
  documentOf,
  publicKeyOf,
  resign,
  SERVICE,
  serviceDocument,
  signerOf,
} from '@svc/testkit/receipts/world';
import { afterAll, describe, expect, it } from 'vitest';
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
const fork = await closeDayOf(world, { after: 9 });
const bundle = bundleOf(world, day);
const files = {
  receipt: write('receipt.json', world.signed.text),
  did: write('did.json', serviceDocument),
  inclusion: write('inclusion.json', day.inclusion),
  checkpoint: write('checkpoint.json', day.record),
  jws: write('checkpoint.jwt', `${day.jws}\n`),
  fork: write('fork.json', fork.record),
  bundle: write('bundle.json', bundle),
};
/** A bundle with the service's name but other keys, which anybody can make. */
const forgeBundle = async (receiptSeed = 8, statusSeed = 9) => {
  const receipt = await resign(world.body, () => {}, signerOf(receiptSeed, `${SERVICE}#receipt-2`));
  const closed = await closeDayOf(world, { signer: signerOf(statusSeed, `${SERVICE}#status-1`) });
  const own = documentOf(SERVICE, { 'receipt-2': receiptSeed, 'status-1': statusSeed });
  return { ...bundleOf(world, closed), receipt: JSON.parse(receipt), did_document: own };
};
const verify = (...args: string[]) => run(['verify', ...args]);
/** The beginning of the text for the attestation of `attestTo`. */
const ATTESTED = `attested by    ${SERVICE}#status-1 at 2026-12-01T00:00:01Z\n`;

describe('svc-receipt verify --inclusion', () => {
  const base = [files.receipt, '--did-document', files.did, '--inclusion', files.inclusion];

  it('names the checkpoint that includes the Receipt', async () => {
    for (const more of [[], ['--checkpoint', files.checkpoint], ['--checkpoint', files.jws]]) {
      const { exitCode, stdout } = await verify(...base, ...more);
      expect(exitCode).toBe(0);
      expect(stdout).toContain(
        `included in    the checkpoint of 2026-11-20: 9 Receipts, root ${day.checkpoint.root}`,
      );
    }
    const { stdout } = await verify(...base, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'valid', checkpoint: day.checkpoint, failures: [] });
  });

  it('names every failure', async () => {
    const edited = write('edited.json', { ...day.inclusion, tree_size: 8, leaf_index: 1 });
    const { exitCode, stdout } = await verify(...base, '--inclusion', edited);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^INVALID\n/);
    expect(stdout).toContain('- contradiction: /tree_size must be 9 by the checkpoint, not 8\n');
    expect(stdout).toContain('- not-included: the path does not lead from');
    expect(stdout).not.toContain('included in ');
  });

  it('exits with 1 for another checkpoint of the day, and names a difference', async () => {
    const { exitCode, stdout } = await verify(...base, '--checkpoint', files.fork);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(
      '- other-checkpoint: the checkpoint given is not the one in the proof: its tree_size is 13',
    );
  });

  it('accepts a Receipt whose key has leaked with the attestation of a key in force', async () => {
    const { verificationMethod, assertionMethod } = serviceDocument;
    const marked = verificationMethod.map((method) =>
      method.id.endsWith('#receipt-2') ? { ...method, revoked: '2026-12-01T00:00:00Z' } : method,
    );
    const document = { ...serviceDocument, verificationMethod: marked, assertionMethod };
    const leaked = [...base, '--did-document', write('leaked-did.json', document)];
    expect((await verify(...leaked)).exitCode).toBe(2);
    const attestation = await attestTo({ id: world.body.receipt_id, jws: world.signed.jws }, day);
    for (const content of [attestation, { receipt_id: world.body.receipt_id, attestation }]) {
      const { exitCode, stdout } = await verify(...leaked, '--attestation', write('attestation', content));
      expect([exitCode, stdout]).toEqual([0, expect.stringContaining(ATTESTED)]);
    }
    expect((await verify(...leaked, '--attestation', files.jws)).exitCode).toBe(1);
  });

  it('exits with 2 while the day is open', async () => {
    const pending = { receipt_id: world.body.receipt_id, day: '2026-11-20', status: 'pending' };
    const { exitCode, stdout } = await verify(...base, '--inclusion', write('pending.json', pending));
    expect(exitCode).toBe(2);
    expect(stdout).toContain('inclusion-pending');
  });

  it('reports no checkpoint for a Receipt that does not verify', async () => {
    const tampered = write('tampered.json', world.signed.text.replace('50000', '99999'));
    const { exitCode, stdout } = await verify(tampered, ...base.slice(1), '--json');
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'invalid', receipt_id: null, checkpoint: null });
  });
});

describe('svc-receipt verify --bundle', () => {
  it('names the key that attests a Receipt, and does not say that the key in its header signed it', async () => {
    const kid = `${SERVICE}#receipt-7`;
    const receipt = JSON.parse(await resign(world.body, () => {}, signerOf(8, kid)));
    const attestation = await attestTo({ id: world.body.receipt_id, jws: receipt.receipt }, day);
    const own = documentOf(SERVICE, { 'receipt-7': 8, 'status-1': 2 });
    const attested = write('attested.json', { ...bundle, receipt, attestation, did_document: own });
    const pinned = [attested, '--key', `status=${encodeMultikey(publicKeyOf(2))}@2026-01-01T00:00:00Z/`];
    const { exitCode, stdout } = await verify(...pinned);
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining(`names as key   ${kid}\n  ${ATTESTED}`)]);
    expect(stdout).not.toContain('signed by');
    const told = JSON.parse((await verify(...pinned, '--json')).stdout);
    const iat = Date.parse('2026-12-01T00:00:01Z') / 1000;
    expect(told).toMatchObject({ kid, attestation: { kid: `${SERVICE}#status-1`, iat } });
  });

  const [receiptKey, statusKey] = [encodeMultikey(publicKeyOf(1)), encodeMultikey(publicKeyOf(2))];
  const keys = ['--key', `receipt=${receiptKey}`, '--key', `status=${statusKey}`];
  const timedKeys = (time: string) => keys.map((word) => (word === '--key' ? word : `${word}@${time}`));
  const valid = ['--bundle', files.bundle];

  it('needs only the bundle and a pinned DID document or pinned keys', async () => {
    const timed = timedKeys('2026-11-01T00:00:00Z/');
    for (const pin of [['--did-document', files.did], timed, [...timed, '--service-did', SERVICE]]) {
      const { exitCode, stdout } = await verify(...valid, ...pin);
      expect(exitCode).toBe(0);
      expect(stdout).toMatch(/^VALID\n {2}decision {7}ALLOW\n/);
      expect(stdout).toContain('included in    the checkpoint of 2026-11-20');
      expect(stdout).not.toContain('own word');
    }
  });

  it('is undecided with a DID alone, because the author of a bundle also writes its keys', async () => {
    const forged = write('forged.json', await forgeBundle());
    for (const file of [files.bundle, forged]) {
      const { exitCode, stdout } = await verify('--bundle', file, '--service-did', SERVICE);
      expect(exitCode).toBe(2);
      expect(stdout).toMatch(/^NOT DECIDED: IT AGREES WITH ITSELF, AND ITS KEYS ARE NOT AUTHENTICATED\n/);
      expect(stdout).toContain(`* ${SERVICE}#status-1 is z6Mk`);
      const json = await verify('--bundle', file, '--service-did', SERVICE, '--json');
      expect(json.exitCode).toBe(2);
      expect(JSON.parse(json.stdout)).toMatchObject({
        ...{ verdict: 'undecided', authenticated: false, assumed: [{}, {}] },
      });
    }
    expect((await verify('--bundle', forged, '--did-document', files.did)).exitCode).toBe(1);
  });

  it('names what is not authenticated where --allow-unauthenticated is given', async () => {
    const onItsWord = [...valid, '--service-did', SERVICE, '--allow-unauthenticated'];
    const { exitCode, stdout } = await verify(...onItsWord);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^VALID, BUT ITS KEYS ARE NOT AUTHENTICATED\n/);
    expect(stdout).toContain(`* ${SERVICE}#status-1 is ${encodeMultikey(publicKeyOf(2))}: compare it`);
    const json = await verify(...onItsWord, '--json');
    expect(JSON.parse(json.stdout)).toMatchObject({
      verdict: 'valid',
      authenticated: false,
      assumed: [{}, {}],
    });
    const pinned = await verify(...valid, ...timedKeys('2026-11-01T00:00:00Z/'), '--json');
    expect(JSON.parse(pinned.stdout)).toMatchObject({
      verdict: 'valid',
      authenticated: true,
      decision: 'ALLOW',
    });
    const needless = await verify(...valid, '--did-document', files.did, '--allow-unauthenticated');
    expect(needless.stderr).toContain('not for --did-document');
  });

  it('does not trust the bundle for the time in which a pinned key was in force', async () => {
    const { exitCode, stdout } = await verify(...valid, ...keys);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/^NOT DECIDED: .* WHEN ITS KEYS WERE IN FORCE IS NOT AUTHENTICATED\n/);
    expect(stdout).toContain('pin it with its time, or the DID document');
    const json = JSON.parse((await verify(...valid, ...keys, '--json')).stdout);
    expect(json).toMatchObject({ verdict: 'undecided', authenticated: false, assumed: [{}, {}] });
    const allowed = await verify(...valid, ...keys, '--allow-unauthenticated');
    expect([allowed.exitCode, allowed.stdout.split('\n')[0]]).toEqual([
      ...[0, 'VALID, BUT WHEN ITS KEYS WERE IN FORCE IS NOT AUTHENTICATED'],
    ]);
  });

  it('does not trust the bundle for the purpose of a pinned key', async () => {
    const purposeless = timedKeys('2026-11-01T00:00:00Z/').map((word) => word.replace(/^[a-z]+=/, ''));
    const { exitCode, stdout } = await verify(...valid, ...purposeless);
    expect(exitCode).toBe(2);
    expect(stdout).toMatch(/^NOT DECIDED: .* AND FOR WHAT ITS KEYS WERE IN FORCE IS NOT AUTHENTICATED\n/);
    expect(stdout).toContain('is a status key: pin it with its purpose');
    const plain = await verify(...valid, '--key', receiptKey, '--key', statusKey, '--json');
    expect(plain.exitCode).toBe(2);
    expect(JSON.parse(plain.stdout)).toMatchObject({ authenticated: false, assumed: [{}, {}, {}, {}] });
    for (const only of [1, 2]) {
      const forged = write(`forged-by-${only}.json`, await forgeBundle(only, only));
      const timed = timedKeys('2026-11-01T00:00:00Z/');
      const refused = await verify('--bundle', forged, ...timed, '--service-did', SERVICE);
      expect([refused.exitCode, refused.stdout.split('\n')[0]]).toEqual([1, 'INVALID']);
      expect(refused.stdout).toContain(`which is pinned as a ${only === 1 ? 'receipt' : 'status'} key`);
      expect((await verify('--bundle', forged, ...purposeless)).exitCode).toBe(2);
    }
    const odd = await verify(...valid, '--key', `checkpoint=${statusKey}`);
    expect([odd.exitCode, odd.stderr]).toEqual([2, expect.stringContaining('status=MULTIKEY@FROM/UNTIL')]);
  });

  it('exits with 2 where only one of two keys is pinned, and names the other', async () => {
    for (const [named, missing] of [
      [1, 2],
      [2, 1],
    ] as const) {
      const { exitCode, stdout } = await verify(...valid, '--key', encodeMultikey(publicKeyOf(named)));
      expect([exitCode, stdout.split('\n')[0]]).toEqual([2, 'COULD NOT DECIDE']);
      expect(stdout).toContain(`${encodeMultikey(publicKeyOf(missing))}, which is not pinned: pin it too`);
    }
    // The key given for the second signature did not make it.
    const [, first = ''] = keys;
    const other = await verify(...valid, '--key', first, '--key', encodeMultikey(publicKeyOf(5)));
    expect([other.exitCode, other.stdout.split('\n')[0]]).toEqual([1, 'INVALID']);
    const altered = write('altered-bundle.json', JSON.stringify(bundle).replaceAll('50000', '99999'));
    expect((await verify('--bundle', altered, '--key', first)).exitCode).toBe(1);
  });

  it('refuses signatures that are dated outside the time pinned with a key', async () => {
    const outside = await verify(...valid, ...timedKeys('/2026-11-20T00:00:00Z'), '--json');
    expect([outside.exitCode, JSON.parse(outside.stdout).failures[0].code]).toEqual([2, 'key-not-in-force']);
    expect((await verify(...valid, ...timedKeys('/'))).exitCode).toBe(0);
    for (const time of ['', 'now/', '2026-11-20T00:00:00Z', '//'])
      expect((await verify(...valid, ...timedKeys(time))).stderr).toContain('MULTIKEY@FROM/UNTIL');
  });

  it('names every failure', async () => {
    const [first, second] = bundle.evidence;
    const wrong = write('wrong.json', { ...bundle, evidence: [{ ...first, body: 'x' }, second] });
    const { exitCode, stdout } = await verify('--bundle', wrong, '--did-document', files.did);
    expect(exitCode).toBe(1);
    expect(stdout).toContain(`- wrong-evidence: /evidence/0 has hash`);
    expect(stdout).toContain(`- missing-evidence: the issuer's DID document`);
    const other = await verify(...valid, '--key', encodeMultikey(publicKeyOf(5)), '--json');
    expect(JSON.parse(other.stdout)).toMatchObject({
      ...{ verdict: 'invalid', decision: null, checkpoint: null },
      failures: [{ code: 'unpinned-key' }, { code: 'unpinned-key' }],
    });
  });

  it('exits with 2 while the day is open', async () => {
    const pending = { receipt_id: world.body.receipt_id, day: '2026-11-20', status: 'pending' };
    const { exitCode, stdout } = await verify(
      ...['--bundle', write('pending-bundle.json', pending), '--did-document', files.did],
    );
    expect([exitCode, stdout.includes('inclusion-pending')]).toEqual([2, true]);
  });

  it('accepts the example of the documentation', async () => {
    const example = (name: string) =>
      fileURLToPath(new URL(`../../../../examples/bundle/${name}`, import.meta.url));
    const { exitCode, stdout } = await verify(
      ...['--bundle', example('bundle.json'), '--did-document', example('did.json')],
    );
    expect(stdout).toMatch(/^VALID\n/);
    expect(exitCode).toBe(0);
  });

  it('escapes characters that could move the cursor or forge a line', async () => {
    const hostile = write('hostile.json', { ...bundle, evidence: [{ hash: '\u001b[2J\nVALID' }] });
    const { exitCode, stdout } = await verify('--bundle', hostile, '--did-document', files.did);
    expect(exitCode).toBe(1);
    expect(stdout).not.toMatch(/(?!\n)\p{C}|^VALID/mu);
  });
});

describe('svc-receipt refuses with exit code 2', () => {
  it.each<readonly [string, readonly string[], string]>([
    [
      'a checkpoint alone',
      [files.receipt, '--did-document', files.did, '--checkpoint', files.jws],
      'goes with --inclusion',
    ],
    [
      'an attestation alone',
      [files.receipt, '--did-document', files.did, '--attestation', files.jws],
      'goes with --inclusion',
    ],
    ['a bundle without a pin', ['--bundle', files.bundle], 'a bundle needs --did-document or --key'],
    [
      'a bundle and a Receipt',
      [files.receipt, '--bundle', files.bundle, '--service-did', SERVICE],
      'holds its Receipt',
    ],
    [
      'two kinds of pin',
      ['--bundle', files.bundle, '--did-document', files.did, '--key', 'z'],
      'must be one of them',
    ],
    [
      'a bundle and a proof',
      ['--bundle', files.bundle, '--inclusion', 'x'],
      'there must not also be --inclusion',
    ],
    [
      'a key without a bundle',
      [files.receipt, '--did-document', files.did, '--key', 'z'],
      '--did-document and --key say the same',
    ],
    ['a key for a Receipt', [files.receipt, '--key', 'z'], '--key is for a bundle'],
    [
      'a proof for a bundle',
      [files.bundle, '--inclusion', files.inclusion],
      'a bundle holds its inclusion proof',
    ],
    ['a checkpoint for a Receipt', [files.checkpoint, '--did-document', files.did], 'this is a checkpoint'],
    ['a JWS of something else', [files.jws, '--did-document', files.did], 'and no Receipt (svc-receipt+jwt)'],
    ['one input for two', ['--did-document', files.did, '--inclusion', '-'], 'only one input can be -'],
    [
      'one input for bundle and document',
      ['--bundle', '-', '--did-document', '-'],
      'only one input can be -',
    ],
    [
      'a bundle that is not there',
      ['--bundle', 'no-such-file', '--service-did', SERVICE],
      'there is no such file',
    ],
  ])('%s', async (_, args, problem) => {
    const { exitCode, stderr } = await verify(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(problem);
  });
});
