/** `POST /ssf/status`: which events a paused stream keeps, and which a disabled one. */
import { expect, it } from 'vitest';
import { CREDENTIAL_CHANGE, type Polled, type Stream, withStreams } from './world.ts';

const world = withStreams();

const streamOfOwnRp = async () => {
  const { rpKey: key } = await world.deployment.createTenants();
  const stream: Stream = await world.create({ events_requested: [world.uriOf('decision.deny')] }, key);
  const { stream_id } = stream;
  return {
    key,
    stream,
    set: async (status: string) => (await world.call('POST', '/ssf/status', { stream_id, status }, key)).json,
    /** Makes a decision and moves its event as the worker does. Returns the Receipt's id. */
    deny: async () => {
      const body = { grant: '', proof: '', action: {} };
      const { json } = await world.call('POST', '/verify', body, key);
      await world.move();
      return String(json.receipt_id);
    },
    poll: (body: object = {}) => world.poll(stream_id, body, key),
  };
};

const told = ({ sets }: Polled) =>
  Object.keys(sets).map((jti) => jti.replace(/^evt_(.*)\.ssf_.*$/, 'drc_$1'));

it('A paused SSF stream delivers nothing and keeps its events; once enabled, it delivers them in order', async () => {
  const { set, deny, poll } = await streamOfOwnRp();
  const before = await deny();
  expect(await set('paused')).toMatchObject({ status: 'paused' });
  const while1 = await deny();
  expect(told(await poll())).toEqual([]);
  expect(await set('enabled')).toMatchObject({ status: 'enabled' });
  const after = await deny();
  expect(told(await poll())).toEqual([before, while1, after]);
});

it('A disabled SSF stream drops waiting and new events; once enabled, it delivers only events from then on', async () => {
  const { set, deny, poll } = await streamOfOwnRp();
  await deny();
  await set('disabled');
  await deny();
  expect(told(await poll())).toEqual([]);
  await set('enabled');
  const after = await deny();
  expect(told(await poll())).toEqual([after]);
});

it('An SSF stream that changes from disabled to paused keeps events from then on', async () => {
  const { set, deny, poll } = await streamOfOwnRp();
  await set('disabled');
  await deny();
  await set('paused');
  const kept = await deny();
  await set('enabled');
  await world.move();
  expect(told(await poll())).toEqual([kept]);
});

it('A disabled SSF stream has no rows in event_wants, so commits write no events for it', async () => {
  const { set, stream } = await streamOfOwnRp();
  const wants = async () =>
    (
      await world.deployment.sql.query('select from event_wants where subscription_id = $1', [
        stream.stream_id,
      ])
    ).rowCount;
  expect(await wants()).toBeGreaterThan(0);
  await set('disabled');
  await world.call('PATCH', '/ssf/streams', { stream_id: stream.stream_id, description: 'still' });
  expect(await wants()).toBe(0);
});

it('POST /ssf/status answers 400 to an unknown status', async () => {
  const { stream_id } = await world.create();
  for (const status of ['started', '', null])
    expect((await world.call('POST', '/ssf/status', { stream_id, status })).status).toBe(400);
});

it('A call on an SSF stream is audited only if it changes something: a setting, its status, the reason, or who gave it', async () => {
  const { stream_id } = await world.create();
  const audited = async () => {
    const text = `select action from audit_events where target = $1 and action <> 'stream.create'`;
    return (await world.deployment.sql.query(text, [stream_id])).rowCount;
  };
  const set = (body: object) => world.call('POST', '/ssf/status', { stream_id, ...body });
  const change = (method: string, body: object) => world.call(method, '/ssf/streams', { stream_id, ...body });
  for (let i = 0; i < 2; i++) expect((await set({ status: 'enabled' })).status).toBe(200);
  for (const method of ['PATCH', 'PATCH'])
    expect((await change(method, { events_requested: [CREDENTIAL_CHANGE] })).status).toBe(200);
  expect(await audited()).toBe(0);
  for (let i = 0; i < 2; i++) await set({ status: 'paused', reason: 'one' });
  expect(await audited()).toBe(1);
  await set({ status: 'paused', reason: 'other' });
  for (let i = 0; i < 2; i++) await change('PATCH', { description: 'changed' });
  expect(await audited()).toBe(3);
  // Now the service has paused the stream, and not its owner.
  await world.deployment.sql.query(
    `update event_subscriptions set disabled_because = 'failing' where subscription_id = $1`,
    [stream_id],
  );
  for (let i = 0; i < 2; i++) await set({ status: 'paused', reason: 'other' });
  expect(await audited()).toBe(4);
});
