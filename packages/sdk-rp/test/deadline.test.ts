/** A call ends at its deadline and at its signal, whatever it is waiting for. */
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { type CallOptions, createVerifier, type SvcError, type Verifier } from '../src/index.ts';
import {
  decide,
  grant,
  NOW_MS,
  newProof,
  olderDocument,
  order,
  request,
  SERVICE,
  SHOP,
  serviceDocument,
} from './world.ts';

afterEach(() => void vi.useRealTimers());

const DOCUMENT = '/.well-known/did.json';
const receiptId = 'drc_01KAFQ0000ABCDEFGHJKMNPQRS';
const input = { grant, proof: await newProof(), action: order, request };
const me = { subject: SHOP, role: 'rp', key_id: '3fa1c09be742', service_did: SERVICE, env: 'development' };
const receipt = await decide(input, false, { key: 'receipt-2' });

interface Answer {
  afterMs: number;
  json: () => object;
}

type Given = Answer | undefined | Promise<Answer>;

/** A service with these delays of its answers; unnamed paths never answer. Times are those of fake timers. */
function slowService(answers: Readonly<Record<string, Answer | ((turn: number) => Given)>>) {
  if (!vi.isFakeTimers()) vi.useFakeTimers();
  const beganAtMs = performance.now();
  const sent: { path: string; atMs: number }[] = [];
  const verifier = createVerifier({
    baseUrl: 'https://svc.example',
    apiKey: 'dk_rp_test',
    serviceDid: SERVICE,
    timeoutMs: 1_000,
    now: () => NOW_MS + performance.now() - beganAtMs,
    fetch: async (url) => {
      const { pathname: path } = new URL(String(url));
      sent.push({ path, atMs: performance.now() - beganAtMs });
      const given = answers[path];
      const turn = sent.filter((one) => one.path === path).length;
      const answer = await (typeof given === 'function' ? given(turn) : given);
      if (answer === undefined) return new Promise(() => {});
      await new Promise((resolve) => setTimeout(resolve, answer.afterMs));
      return Response.json(answer.json());
    },
  });
  /** How a call ends, and after which time. */
  const endOf = async (call: Promise<unknown>) => {
    const calledAtMs = performance.now();
    const { kind } = await call.then(
      () => ({ kind: 'answered' }),
      (error: SvcError) => error,
    );
    return { kind, afterMs: performance.now() - calledAtMs };
  };
  return { verifier, sent, endOf, pathsSent: () => sent.map(({ path }) => path) };
}

const CALLS: [string, (verifier: Verifier, options: CallOptions) => Promise<unknown>][] = [
  ['verify', (verifier, options) => verifier.verify(input, options)],
  ['decisions.get', (verifier, options) => verifier.decisions.get(receiptId, options)],
  ['decisions.bundle', (verifier, options) => verifier.decisions.bundle(receiptId, options)],
  ['ready', (verifier, options) => verifier.ready(options)],
];

describe.each(CALLS)('%s, while the DID document of the service does not arrive,', (_, callOf) => {
  const answers = { '/me': { afterMs: 0, json: () => me } };

  it('ends after its own timeoutMs', async () => {
    const { verifier, endOf, pathsSent } = slowService(answers);
    const ended = endOf(callOf(verifier, { timeoutMs: 200 }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await ended).toEqual({ kind: 'timeout', afterMs: 200 });
    expect(pathsSent().filter((path) => path !== '/me')).toEqual([DOCUMENT]);
  });

  it('ends as aborted when its signal fires', async () => {
    const { verifier, endOf, pathsSent } = slowService(answers);
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 100);
    const ended = endOf(callOf(verifier, { signal: controller.signal }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await ended).toEqual({ kind: 'aborted', afterMs: 100 });
    expect(pathsSent().filter((path) => path !== '/me')).toEqual([DOCUMENT]);
  });

  it('sends nothing where its signal has already fired', async () => {
    const { verifier, endOf, sent } = slowService(answers);
    const ended = endOf(callOf(verifier, { signal: AbortSignal.abort() }));
    await vi.advanceTimersByTimeAsync(5_000);
    expect(await ended).toEqual({ kind: 'aborted', afterMs: 0 });
    expect(sent).toEqual([]);
  });
});

it('two calls share one fetch of the document, which continues when the first call ends', async () => {
  const { verifier, endOf, pathsSent } = slowService({
    [DOCUMENT]: { afterMs: 900, json: () => serviceDocument },
  });
  const [short, long] = [{ timeoutMs: 200 }, {}].map((options) => endOf(verifier.verify(input, options)));
  await vi.advanceTimersByTimeAsync(900);
  expect(await short).toEqual({ kind: 'timeout', afterMs: 200 });
  expect(pathsSent()).toEqual([DOCUMENT, '/verify']);
  await vi.advanceTimersByTimeAsync(100);
  expect(await long).toEqual({ kind: 'outcome-unknown', afterMs: 1_000 });
});

describe('a fetch of the document whose request the runtime has dropped', () => {
  /** As edge runtimes do when the client disconnects: no answer and no timer comes any more. */
  const dropTimers = () => {
    for (const { value } of timersSet.mock.results) clearTimeout(value);
  };
  let timersSet: MockInstance<typeof setTimeout>;
  beforeEach(() => {
    vi.useFakeTimers();
    timersSet = vi.spyOn(globalThis, 'setTimeout');
  });
  afterEach(() => void vi.restoreAllMocks());

  const comes = { afterMs: 0, json: () => serviceDocument };
  const fetches = (paths: readonly string[]) => paths.filter((path) => path === DOCUMENT).length;

  it('is not awaited after its deadline: a verifier without a document fetches again', async () => {
    const { verifier, endOf, pathsSent } = slowService({
      [DOCUMENT]: (turn) => (turn === 1 ? undefined : comes),
      '/verify': { afterMs: 0, json: () => receipt },
    });
    void endOf(verifier.verify(input));
    await vi.advanceTimersByTimeAsync(900);
    dropTimers();
    const during = endOf(verifier.verify(input));
    await vi.advanceTimersByTimeAsync(101);
    const after = endOf(verifier.verify(input));
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await after).kind).toBe('answered');
    expect(await during).toEqual({ kind: 'timeout', afterMs: 1_000 });
    expect(fetches(pathsSent())).toBe(2);
  });

  it('does not block the next fetch, in the background or awaited', async () => {
    const { verifier, endOf, pathsSent } = slowService({
      [DOCUMENT]: (turn) => (turn === 2 ? undefined : comes),
      '/me': { afterMs: 0, json: () => me },
    });
    const ready = async () => {
      const ended = endOf(verifier.ready());
      await vi.advanceTimersByTimeAsync(10);
      dropTimers();
      return (await ended).kind;
    };
    const ends = [await ready()];
    await vi.advanceTimersByTimeAsync(60_000);
    ends.push(await ready());
    expect(fetches(pathsSent())).toBe(2);
    await vi.advanceTimersByTimeAsync(540_000);
    ends.push(await ready());
    expect(ends).toEqual(['answered', 'answered', 'answered']);
    expect(fetches(pathsSent())).toBe(3);
  });

  it('does not replace the fetch that began after it, if it ends late', async () => {
    let release = (_: Answer) => {};
    const { verifier, endOf, pathsSent } = slowService({
      [DOCUMENT]: (turn) =>
        turn === 1 ? new Promise((resolve) => (release = resolve)) : { ...comes, afterMs: 500 },
      '/verify': { afterMs: 0, json: () => receipt },
    });
    void endOf(verifier.verify(input));
    await vi.advanceTimersByTimeAsync(1);
    dropTimers();
    await vi.advanceTimersByTimeAsync(1_000);
    const second = endOf(verifier.verify(input));
    await vi.advanceTimersByTimeAsync(100);
    release({ ...comes, json: () => olderDocument });
    await vi.advanceTimersByTimeAsync(100);
    const third = endOf(verifier.verify(input));
    await vi.advanceTimersByTimeAsync(900);
    expect([(await second).kind, (await third).kind]).toEqual(['answered', 'answered']);
    expect(fetches(pathsSent())).toBe(2);
  });
});

it.each(CALLS)('%s has one deadline, of which the fetch of the document takes a part', async (_, callOf) => {
  const { verifier, sent, endOf } = slowService({
    [DOCUMENT]: { afterMs: 900, json: () => serviceDocument },
    '/me': { afterMs: 900, json: () => me },
  });
  const ended = endOf(callOf(verifier, {}));
  await vi.advanceTimersByTimeAsync(5_000);
  expect((await ended).afterMs).toBe(1_000);
  expect(sent).toHaveLength(2);
});

it.each<[string, number, (verifier: Verifier) => Promise<unknown>]>([
  ['get', 1_000, (verifier) => verifier.relyingParty.get()],
  ['pause', 3_000, (verifier) => verifier.relyingParty.pause()],
  ['resume', 3_000, (verifier) => verifier.relyingParty.resume()],
])('relyingParty.%s has one deadline, also where it first asks /me', async (_, endsMs, callOf) => {
  const { verifier, endOf, pathsSent } = slowService({ '/me': { afterMs: 900, json: () => me } });
  const ended = endOf(callOf(verifier));
  await vi.advanceTimersByTimeAsync(10_000);
  expect((await ended).afterMs).toBe(endsMs);
  expect(pathsSent()).toHaveLength(2);
});

it('no Proof is sent after the deadline, although the timer fires late', async () => {
  const { verifier, endOf, pathsSent } = slowService({
    [DOCUMENT]: { afterMs: 100, json: () => serviceDocument },
  });
  const ended = endOf(verifier.verify(input));
  await vi.advanceTimersByTimeAsync(99);
  const lateMs = performance.now() + 2_000;
  vi.spyOn(performance, 'now').mockReturnValue(lateMs);
  await vi.advanceTimersByTimeAsync(1);
  expect((await ended).kind).toBe('timeout');
  expect(pathsSent()).toEqual([DOCUMENT]);
  vi.restoreAllMocks();
});

describe('an answer whose key the kept document lacks', () => {
  /** The newer document never comes. */
  const answered = async (options: CallOptions) => {
    const { verifier, endOf, pathsSent } = slowService({
      '/verify': { afterMs: 0, json: () => receipt },
      [DOCUMENT]: (turn) => (turn === 1 ? { afterMs: 0, json: () => olderDocument } : undefined),
    });
    const soon = endOf(verifier.verify(input));
    await vi.advanceTimersByTimeAsync(30_000);
    const later = endOf(verifier.verify(input, options));
    await vi.advanceTimersByTimeAsync(5_000);
    return { soon: await soon, later: await later, sent: pathsSent() };
  };

  it('waits for a newer document until the deadline of the call, and then ends as outcome-unknown', async () => {
    const { soon, later, sent } = await answered({ timeoutMs: 300 });
    expect(soon.kind).toBe('receipt-invalid');
    expect(later).toEqual({ kind: 'outcome-unknown', afterMs: 300 });
    expect(sent).toEqual([DOCUMENT, '/verify', '/verify', DOCUMENT]);
  });

  it('waits for a newer document until the signal fires, and then ends as aborted', async () => {
    vi.useFakeTimers();
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 30_100);
    const { later } = await answered({ signal: controller.signal });
    expect(later).toEqual({ kind: 'aborted', afterMs: 100 });
  });
});
