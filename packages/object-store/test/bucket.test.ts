import { CreateBucketCommand, PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { BEHAVIOURS, startS3Server } from '@svc/testkit/s3-server';
import { isDeep } from '@svc/testkit/sampled';
import { isSwiftInstalled, type SwiftS3, startSwiftS3 } from '@svc/testkit/swift-s3';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type OpenedObjects, openObjects } from '../src/index.ts';
import { sha256Hex } from '../src/names.ts';
import { bytesOf, describeObjects, named, newFolder } from './contract.ts';

/** An attempt on loopback takes longer than this only if a test makes it hang. */
const PATIENCE = { attemptMs: 10_000, pauseMs: 1 };
const IMPATIENCE = { attemptMs: 50, pauseMs: 1 };
const ATTEMPTS = 4;

const asked = { AWS_ACCESS_KEY_ID: 'svc:test', AWS_SECRET_ACCESS_KEY: 'secret' };
const before = Object.keys(asked).map((name) => [name, process.env[name]] as const);
const opened: OpenedObjects[] = [];
const open = async (endpoint: string, patience = PATIENCE, bucket = 'cold') => {
  Object.assign(process.env, asked);
  const one = await openObjects(`s3://${bucket}/svc/ledger`, endpoint, { patience });
  opened.push(one);
  return one.objects;
};
afterAll(() => {
  for (const one of opened) one.close();
  for (const [name, value] of before)
    if (value === undefined) delete process.env[name];
    else process.env[name] = value;
});

const server = await startS3Server('cold');
afterAll(() => server.stop());
const objects = await open(server.endpoint);
const place = {
  objects,
  plant: async (name: string, bytes: Uint8Array) => void server.objects.set(`svc/ledger/${name}`, bytes),
};

describeObjects('a bucket', () => place);

it('an empty AWS_REGION, as a compose file sets it, counts as not set', async () => {
  const region = process.env.AWS_REGION;
  process.env.AWS_REGION = '';
  try {
    const regionless = await open(server.endpoint);
    const [name, bytes] = named(newFolder(), 'anywhere');
    await regionless.put(name, bytes);
    expect(Buffer.from(await regionless.get(name)).toString()).toBe('anywhere');
  } finally {
    if (region === undefined) delete process.env.AWS_REGION;
    else process.env.AWS_REGION = region;
  }
});

describe('if the server of a bucket', () => {
  const sha256 = sha256Hex(bytesOf('345'));
  const range = { offset: 3, length: 3, sha256 };
  let name = '';
  let bytes: Uint8Array = new Uint8Array();
  beforeEach(async () => {
    server.behave('well');
    [name, bytes] = named(newFolder(), '0123456789');
    await objects.put(name, bytes);
  });
  afterAll(() => server.behave('well'));

  const reading = ['fail', 'cut', 'shorten', 'flip'] as const;
  it.each(reading.map((how) => [BEHAVIOURS[how], how] as const))(
    '%s, the read is repeated, and fails if all four attempts are wrong',
    async (_, how) => {
      for (const [read, text] of [
        [() => objects.get(name), '0123456789'],
        [() => objects.getRange(name, range), '345'],
      ] as const) {
        server.behave(how, ATTEMPTS - 1);
        expect(Buffer.from(await read()).toString()).toBe(text);
        server.behave(how);
        await expect(read()).rejects.toMatchObject({ name: 'ObjectStoreError' });
      }
    },
  );

  it('sends the whole object for a range, the read fails with wrong-bytes', async () => {
    server.behave('whole');
    await expect(objects.getRange(name, range)).rejects.toMatchObject({ kind: 'wrong-bytes' });
  });

  it.each([
    [BEHAVIOURS.hang, 'hang'],
    [BEHAVIOURS.drip, 'drip'],
  ] as const)('%s, the read fails with unavailable: each attempt has a deadline', async (_, how) => {
    const impatient = await open(server.endpoint, IMPATIENCE);
    server.behave(how);
    await expect(impatient.get(name)).rejects.toMatchObject({ kind: 'unavailable' });
    await expect(impatient.getRange(name, range)).rejects.toMatchObject({ kind: 'unavailable' });
    server.behave('well');
    expect(Buffer.from(await objects.get(name)).toString()).toBe('0123456789');
  });

  it('answers 503, every call fails with unavailable', async () => {
    server.behave('fail');
    const [another, text] = named(newFolder(), 'another');
    for (const call of [
      () => objects.put(another, text),
      () => objects.get(name),
      () => objects.head(name),
      () => objects.list(newFolder(), null, 10),
      () => objects.delete(name),
    ])
      await expect(call()).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('answers 503, it is asked four times, but only once if it refuses', async () => {
    server.behave('fail');
    let before = server.asked;
    await expect(objects.head(name)).rejects.toThrow();
    expect(server.asked - before).toBe(ATTEMPTS);
    server.behave('well');
    before = server.asked;
    await expect(objects.getRange(named(newFolder(), 'none')[0], range)).rejects.toThrow();
    expect(server.asked - before).toBe(1);
  });

  const putting = ['lose-answer', 'no-conditions', 'unconditional'] as const;
  it.each(putting.map((how) => [BEHAVIOURS[how], how] as const))(
    '%s, a put stores the right bytes, also over wrong ones',
    async (_, how) => {
      const [another, text] = named(newFolder(), `put ${how}`);
      server.behave(how, how === 'lose-answer' ? 1 : undefined);
      await objects.put(another, text);
      await objects.put(another, text);
      server.behave('well');
      expect(Buffer.compare(await objects.get(another), text)).toBe(0);
      await place.plant(another, bytesOf('what somebody else has put there'));
      server.behave(how, how === 'lose-answer' ? 1 : undefined);
      await objects.put(another, text);
      server.behave('well');
      expect(Buffer.compare(await objects.get(another), text)).toBe(0);
    },
  );

  it('stores half of what is put, this is detected, and another put repairs it once the server stores all', async () => {
    const [another, text] = named(newFolder(), 'halved');
    server.behave('halve');
    await objects.put(another, text);
    await expect(objects.get(another)).rejects.toMatchObject({ kind: 'wrong-bytes' });
    await expect(objects.put(another, text)).rejects.toMatchObject({ kind: 'wrong-bytes' });
    server.behave('well');
    expect(await objects.put(another, text)).toBe(true);
    expect(Buffer.compare(await objects.get(another), text)).toBe(0);
  });

  it('answers "missing" while it replaces an object, it is asked again, and the object is put again if it stays missing', async () => {
    const [another, text] = named(newFolder(), 'replaced');
    await objects.put(another, text);
    const put = 1;
    const looks = 2;
    server.behave('absent', put + looks);
    expect(await objects.put(another, text)).toBe(false);
    server.behave('absent', put + 1 + ATTEMPTS);
    expect(await objects.put(another, text)).toBe(true);
    server.behave('absent');
    await expect(objects.put(another, text)).rejects.toMatchObject({ kind: 'wrong-bytes' });
    server.behave('well');
    expect(Buffer.compare(await objects.get(another), text)).toBe(0);
  });

  it('forgets a put, the object is read as missing', async () => {
    const [another, text] = named(newFolder(), 'forgotten');
    server.behave('forget');
    await objects.put(another, text);
    await expect(objects.get(another)).rejects.toMatchObject({ kind: 'missing' });
  });

  it('lists stale pages, these are accepted, but pages out of order or of another prefix are refused', async () => {
    const folder = newFolder();
    for (const text of ['1', '2', '3', '4', '5']) await objects.put(...named(folder, text));
    const all = async () => {
      const names: string[] = [];
      for (let after: string | null = null, pages = 0; pages < 10; pages++) {
        const page = await objects.list(folder, after, 2);
        names.push(...page.names);
        after = page.next;
        if (after === null) return names;
      }
      throw new Error('the listing does not end');
    };
    server.behave('stale');
    expect((await all()).length).toBe(5);
    for (const how of ['circle', 'astray'] as const) {
      server.behave(how);
      await expect(all()).rejects.toMatchObject({ name: 'ObjectStoreError' });
    }
    server.behave('well');
    expect((await all()).length).toBe(5);
  });
});

if (!isSwiftInstalled)
  console.warn(
    'SKIPPED: a real S3 server. Swift is not installed (Debian: apt-get install swift-proxy swift-account swift-container swift-object)',
  );
// In a sample, the simulated server above is tested with the same contract.
describe.runIf(isDeep && isSwiftInstalled)('a real S3 server', () => {
  let swift: SwiftS3;
  let client: S3Client;
  let store: Awaited<ReturnType<typeof open>>;
  beforeAll(async () => {
    swift = await startSwiftS3();
    const { endpoint } = swift;
    client = new S3Client({ endpoint, region: 'us-east-1', credentials: swift, forcePathStyle: true });
    await client.send(new CreateBucketCommand({ Bucket: 'cold' }));
    store = await open(endpoint);
  }, 120_000);
  afterAll(async () => {
    client.destroy();
    await swift.stop();
  });

  describeObjects('Swift, which knows no conditional put', () => ({
    objects: store,
    plant: async (name, Body) =>
      void (await client.send(new PutObjectCommand({ Bucket: 'cold', Key: `svc/ledger/${name}`, Body }))),
  }));

  it('refuses calls to a missing bucket instead of treating it as empty', async () => {
    const nowhere = await open(swift.endpoint, PATIENCE, 'nowhere');
    const [name, bytes] = named(newFolder(), 'lost');
    for (const call of [() => nowhere.put(name, bytes), () => nowhere.get(name)])
      await expect(call()).rejects.toMatchObject({ kind: 'refused' });
    await expect(nowhere.list(newFolder(), null, 10)).rejects.toMatchObject({ kind: 'refused' });
  });
});
