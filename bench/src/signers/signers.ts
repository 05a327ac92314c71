/**
 * `npm run bench -- signers`: the cost of signing a Receipt with the private key in each place: one at a time, and 8 at
 * once, interleaved in rounds. The token is SoftHSM and KMS is a stub on this machine, so the figures are the share of
 * this machine. A real token or KMS adds its own time and the network's, and no work on this machine.
 */
import { createPrivateKey, generateKeyPairSync, sign } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { encodeMultikey } from '@svc/protocol';
import type { Signer } from '@svc/service';
import { type KeySources, Signers } from '@svc/signers';
import { createSoftToken, findSoftHsm } from '@svc/testkit/soft-token';
import { describeMachine } from '../harness/report.ts';
import { median } from '../load/percentile.ts';
import { startKmsProcess } from './kms-process.ts';

/** Bytes that are signed of a Receipt: the median of the published vectors. */
const MESSAGE_BYTES = 3_330;
const ROUNDS = 7;
const ALONE = 200;
const AT_ONCE = 8;
const TOGETHER = 1_024;

interface Measured {
  readonly aloneMs: number;
  readonly perSecond: number;
  readonly cpuUs: number;
}

const message = Buffer.alloc(MESSAGE_BYTES, 'x');

/**
 * Signatures that came too late, by contestant: they are counted, since each contestant's share of a busy machine
 * differs.
 */
const refused = new Map<Signer, number>();
const signOnce = async (signer: Signer): Promise<void> => {
  try {
    await signer.sign(message);
  } catch {
    refused.set(signer, (refused.get(signer) ?? 0) + 1);
  }
};

const measure = async (signer: Signer): Promise<Measured> => {
  // The contestant before may have kept the event loop busy.
  await setImmediate();
  const times: number[] = [];
  for (let i = 0; i < ALONE; i++) {
    const beganMs = performance.now();
    await signOnce(signer);
    times.push(performance.now() - beganMs);
  }
  const beganMs = performance.now();
  const cpu = process.cpuUsage();
  for (let done = 0; done < TOGETHER; done += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => signOnce(signer)));
  const { user, system } = process.cpuUsage(cpu);
  return {
    aloneMs: median(times),
    perSecond: (TOGETHER * 1000) / (performance.now() - beganMs),
    cpuUs: (user + system) / TOGETHER,
  };
};

const folder = mkdtempSync(join(tmpdir(), 'svc-bench-signers-'));
const passphrasePath = join(folder, 'passphrase');
writeFileSync(passphrasePath, 'p'.repeat(40), { mode: 0o600 });
const sources: KeySources = {
  ...{ folder, passphrasePath, pinPath: null },
  readSecret: (path) => readFileSync(path, 'utf8'),
  writeSecret: (path, text) => writeFileSync(path, text, { mode: 0o600 }),
};
const signers = new Signers();
const modulePath = findSoftHsm();
const token = modulePath === null ? null : createSoftToken(modulePath);
const kms = await startKmsProcess();

const open = async (uri: string): Promise<Signer> => {
  const made = await signers.make(uri, { name: 'receipt-1', isLikeThat: false }, sources);
  const { publicKey } = made;
  const key = {
    kid: 'did:web:svc.example#receipt-1',
    publicKey,
    publicKeyMultibase: encodeMultikey(publicKey),
  };
  const time = { fromMs: null, untilMs: null, isCompromised: false };
  return signers.open(made.uri, { ...key, canSign: true, time }, sources);
};
const plain = (): Signer => {
  const jwk = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  const privateKey = createPrivateKey({ key: jwk, format: 'jwk' });
  return { kid: '', sign: (bytes) => sign(null, bytes, privateKey) };
};

try {
  const contestants: [string, Signer][] = [
    ['in the set (d)', plain()],
    ['encrypted file', await open('file:')],
  ];
  if (token !== null) contestants.push(['token: SoftHSM', await open(token.uri())]);
  else console.log('Without a token: SoftHSM is not installed (Debian: apt-get install softhsm2)');
  contestants.push(['AWS KMS: a stub here', await open('aws-kms:eu-central-1')]);
  console.log(`${describeMachine()}; ${MESSAGE_BYTES} bytes, ${ROUNDS} rounds, medians`);
  const rounds = new Map<string, Measured[]>(contestants.map(([name]) => [name, []]));
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, signer] of contestants) rounds.get(name)?.push(await measure(signer));
  const of = (name: string, read: (one: Measured) => number) => median((rounds.get(name) ?? []).map(read));
  const base = contestants[0]?.[0] ?? '';
  console.log(
    'private key is in      ms alone   signatures/s (8 at once)    CPU µs   CPU / in the set   too late',
  );
  for (const [name, signer] of contestants) {
    const cpuUs = of(name, (one) => one.cpuUs);
    console.log(
      [
        name.padEnd(22),
        of(name, (one) => one.aloneMs)
          .toFixed(3)
          .padStart(8),
        of(name, (one) => one.perSecond)
          .toFixed(0)
          .padStart(27),
        cpuUs.toFixed(0).padStart(8),
        (cpuUs / of(base, (one) => one.cpuUs)).toFixed(1).padStart(18),
        String(refused.get(signer) ?? 0).padStart(10),
      ].join(' '),
    );
  }
} finally {
  await signers.close();
  await kms.stop();
  token?.remove();
  rmSync(folder, { recursive: true, force: true });
}
