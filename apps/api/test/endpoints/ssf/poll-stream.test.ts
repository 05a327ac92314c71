/** `POST /ssf/streams/{stream_id}/poll`: a receiver that polls, from a revocation to its acknowledgement. */
import {
  Authenticator,
  createSigningTurns,
  pollStream,
  type RpCaller,
  SetSigner,
  type Waits,
} from '@svc/service';
import { decodeProtectedHeader } from 'jose';
import { describe, expect, it } from 'vitest';
import { issueGrant, receiptOf, verifyBody } from '../../world/tenants.ts';
import { CREDENTIAL_CHANGE, NO_STREAM, withStreams } from './world.ts';

const world = withStreams();
const DENIED = { grant: '', proof: '', action: {} };

describe('A revocation on an SSF poll stream', () => {
  it('is delivered as credential-change to the Principal, again on each poll until it is acknowledged', async () => {
    const stream = await world.create();
    const { stream_id } = stream;
    const { grantId } = await issueGrant(world.tenants);
    await world.tenants.principal.grants.revoke(grantId);
    await world.move();
    const polled = await world.poll(stream_id);
    const claims = await world.claimsOfOnly(polled, stream);
    const { principalDid: principal, agent } = world.tenants;
    const seconds = expect.any(Number);
    expect(claims).toEqual({
      iss: stream.iss,
      aud: principal,
      iat: seconds,
      jti: expect.stringMatching(new RegExp(`^evt_[0-9a-f]{32}\\.${stream_id}$`)),
      txn: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      sub_id: { format: 'did', url: agent.did },
      events: {
        [CREDENTIAL_CHANGE]: {
          change_type: 'revoke',
          credential_type: 'verifiable-credential',
          event_timestamp: seconds,
          grant_id: grantId,
          principal,
          agent: agent.did,
        },
      },
    });
    expect(Math.abs(Number(claims.iat) - Date.now() / 1000)).toBeLessThan(60);
    for (const absent of ['exp', 'sub', 'nbf']) expect(claims).not.toHaveProperty(absent);
    const [set] = Object.values(polled.sets);
    expect(decodeProtectedHeader(set ?? '')).toEqual({
      ...{ alg: 'EdDSA', typ: 'secevent+jwt', kid: expect.stringMatching(/#status-1$/) },
    });
    expect(await world.poll(stream_id)).toEqual(polled);
    const done = { sets: {}, moreAvailable: false };
    expect(await world.poll(stream_id, { ack: Object.keys(polled.sets), maxEvents: 0 })).toEqual(done);
    expect(await world.poll(stream_id)).toEqual(done);
  });

  it('is delivered to a relying party that has verified the Grant, and to no other', async () => {
    const [one, other] = [await world.deployment.createTenants(), await world.deployment.createTenants()];
    const stream = await world.create(undefined, one.rpKey);
    const others = await world.create(undefined, other.rpKey);
    const grant = await issueGrant(one);
    receiptOf(await world.call('POST', '/verify', await verifyBody(one, grant), one.rpKey));
    await one.principal.grants.revoke(grant.grantId);
    await world.move();
    await world.move();
    const { aud } = await world.claimsOfOnly(await world.poll(stream.stream_id, {}, one.rpKey), stream);
    expect(aud).toBe(one.rpDid);
    expect((await world.poll(others.stream_id, {}, other.rpKey)).sets).toEqual({});
  });
});

describe('POST /ssf/streams/{stream_id}/poll', () => {
  const streamWith = async (denials: number) => {
    const { rpKey: key } = await world.deployment.createTenants();
    const { stream_id } = await world.create({ events_requested: [world.uriOf('decision.deny')] }, key);
    const receipts = [];
    for (let i = 0; i < denials; i++)
      receipts.push(String((await world.call('POST', '/verify', DENIED, key)).json.receipt_id).slice(4));
    await world.move();
    const poll = (body: object = {}) => world.poll(stream_id, body, key);
    return { key, stream_id, poll, jtis: receipts.map((id) => `evt_${id}.${stream_id}`) };
  };

  it('returns at most `maxEvents` SETs, oldest first, and whether more are available', async () => {
    const { poll, jtis } = await streamWith(3);
    const first = await poll({ maxEvents: 2 });
    expect([Object.keys(first.sets), first.moreAvailable]).toEqual([jtis.slice(0, 2), true]);
    const second = await poll({ maxEvents: 2, ack: jtis.slice(0, 2) });
    expect([Object.keys(second.sets), second.moreAvailable]).toEqual([jtis.slice(2), false]);
    expect(await poll({ maxEvents: 0 })).toEqual({ sets: {}, moreAvailable: true });
  });

  it('does not return a SET again that `setErrs` named, and stores the reported error', async () => {
    const { poll, jtis, stream_id } = await streamWith(1);
    const setErrs = { [jtis[0] ?? '']: { err: 'invalid_key', description: 'Key is not known' } };
    expect((await poll({ setErrs })).sets).toEqual({});
    const { rows } = await world.deployment.sql.query(
      'select state, last_problem from event_deliveries where subscription_id = $1',
      [stream_id],
    );
    expect(rows).toEqual([{ state: 'failed', last_problem: 'refused: invalid_key Key is not known' }]);
  });

  it('ignores acknowledgements for SETs of another stream and for unknown SETs', async () => {
    const [one, other] = [await streamWith(1), await streamWith(1)];
    const jti = one.jtis[0]?.split('.')[0];
    await other.poll({ ack: [...one.jtis, `${jti}.${other.stream_id}`, 'unknown', ''.padEnd(128, 'x')] });
    expect(Object.keys((await one.poll()).sets)).toEqual(one.jtis);
    expect(Object.keys((await other.poll()).sets)).toEqual(other.jtis);
  });

  it('waits for the next event, unless `returnImmediately` is set', async () => {
    const { key, stream_id } = await streamWith(0);
    const waiting = world.poll(stream_id, { returnImmediately: false }, key);
    expect((await world.poll(stream_id, {}, key)).sets).toEqual({});
    await world.call('POST', '/verify', DENIED, key);
    await world.move();
    expect(Object.keys((await waiting).sets)).toHaveLength(1);
  });

  it.each<[string, string, (key: string, id: string) => Promise<unknown>]>([
    ['key was revoked', 'UNAUTHORIZED', (key) => world.deployment.revokeKey(key)],
    [
      'stream was deleted',
      'NOT_FOUND',
      (key, id) => world.call('DELETE', `/ssf/streams?stream_id=${id}`, undefined, key),
    ],
  ])('returns no event if the %s while it waited', async (_, code, change) => {
    const { rpDid } = await world.deployment.createTenants();
    const key = await world.deployment.createKey('rp', rpDid);
    const { stream_id } = await world.create({ events_requested: [world.uriOf('decision.deny')] }, key);
    const { service } = world.deployment.process;
    const authenticator = new Authenticator(service.store, service.clock, {
      adminToken: null,
      provisionKeys: [],
    });
    const caller = (await authenticator.authenticate(key, { mayBeRemembered: false })) as RpCaller;
    // Changes the stream while the poll waits.
    const until = async () => void (await change(key, stream_id));
    const polling = {
      waits: { until } as unknown as Waits,
      signer: new SetSigner(service, createSigningTurns()),
    };
    const poll = { ack: [], setErrs: {}, maxEvents: undefined, returnImmediately: false };
    const polled = pollStream(service, polling, caller, stream_id, poll, new AbortController().signal);
    await expect(polled).rejects.toMatchObject({ code });
  });

  it.each([
    { maxEvents: -1 },
    { maxEvents: 1.5 },
    { ack: 'x' },
    { ack: Array.from({ length: 501 }, () => 'x') },
    { setErrs: { x: {} } },
    { more: 1 },
  ])('refuses %j with 400', async (body) => {
    expect((await world.call('POST', `/ssf/streams/${NO_STREAM}/poll`, body)).status).toBe(400);
  });

  it('leaves deliveries of a poll stream waiting: no push attempt, and nothing counts as overdue or failing', async () => {
    const { stream_id, jtis, poll } = await streamWith(2);
    const { rows } = await world.deployment.sql.query(
      `select distinct d.state, d.attempts, d.taken_at, s.failing_since
       from event_deliveries d join event_subscriptions s using (subscription_id) where subscription_id = $1`,
      [stream_id],
    );
    expect(rows).toEqual([{ state: 'waiting', attempts: 0, taken_at: null, failing_since: null }]);
    const store = world.deployment.process.service.store;
    expect(await store.eventDeliveries.describeQueue(true)).toMatchObject({
      dueSinceMs: null,
      active: 0,
      failing: 0,
      disabled: 0,
    });
    expect(Object.keys((await poll()).sets)).toEqual(jtis);
  });

  it('has at most 1,000 open deliveries, the rest waits in the log; polling and acknowledging then returns all 1,501', async () => {
    const { poll, stream_id } = await streamWith(1);
    await world.deployment.sql.query(
      `insert into event_log (event_id, audience, type, occurred_at, data)
       select 'evt_' || lpad(n::text, 32, '0'), s.audience, 'decision.deny', now(), '{}'
       from generate_series(1, 1500) n, event_subscriptions s where s.subscription_id = $1`,
      [stream_id],
    );
    await world.move();
    const open = await world.deployment.sql.query(
      `select from event_deliveries where subscription_id = $1 and state = 'waiting'`,
      [stream_id],
    );
    expect(open.rowCount).toBe(1_000);
    let taken = 0;
    for (let more = true; more; ) {
      const { sets, moreAvailable } = await poll({ maxEvents: 1_000 });
      expect(Object.keys(sets).length).toBeLessThanOrEqual(100);
      taken += Object.keys(sets).length;
      await poll({ ack: Object.keys(sets), maxEvents: 0 });
      await world.move();
      more = moreAvailable;
    }
    expect(taken).toBe(1_501);
  });
});
