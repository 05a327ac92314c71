/**
 * `delivery` of a stream that is pushed (RFC 8935): which endpoints it accepts, and that its authorization header
 * cannot be read anywhere.
 */
import { openAuthorization, WebhookSecrets } from '@svc/service';
import { REFUSED_URLS } from '@svc/testkit/outbound/ssrf-corpus';
import { describe, expect, it } from 'vitest';
import { CREDENTIAL_CHANGE, ROOT, withStreams } from '../endpoints/ssf/world.ts';

const world = withStreams();
const PUSH = 'urn:ietf:rfc:8935';
const POLL = 'urn:ietf:rfc:8936';
const SECRET = 'Bearer a-header-that-is-nowhere-in-clear';
const pushTo = (endpoint_url: string, authorization_header?: string) => ({
  method: PUSH,
  endpoint_url,
  ...(authorization_header !== undefined && { authorization_header }),
});
const HERE = 'https://gateway.example/sets?of=svc';

const rowOf = async (id: string) => {
  const { rows } = await world.deployment.sql.query(
    `select s.method, s.url, t.authorization_root as root, t.authorization_sealed as sealed
     from event_subscriptions s join event_streams t using (subscription_id) where subscription_id = $1`,
    [id],
  );
  return rows[0] as { method: string; url: string; root: string | null; sealed: string | null };
};
const headerOf = async (id: string) => {
  const { url, root, sealed } = await rowOf(id);
  if (root === null || sealed === null) return null;
  return openAuthorization(new WebhookSecrets([ROOT]), { streamId: id, url }, { root, sealed });
};
const send = async (method: string, body: object) => {
  const { status, json, text } = await world.call(method, '/ssf/streams', body);
  if (status !== 200) throw new Error(text);
  return json;
};

describe('a stream with an endpoint_url', () => {
  it('is shown with its endpoint_url; its authorization header is in no answer and not in plain text in the database', async () => {
    const answer = await world.call('POST', '/ssf/streams', {
      ...{ events_requested: [CREDENTIAL_CHANGE], delivery: pushTo(HERE, SECRET) },
    });
    expect([answer.status, answer.json.delivery]).toEqual([201, { method: PUSH, endpoint_url: HERE }]);
    const id = String(answer.json.stream_id);
    const answers = [
      answer.text,
      (await world.call('GET', `/ssf/streams?stream_id=${id}`)).text,
      (await world.call('GET', '/ssf/streams')).text,
      (await world.call('PATCH', '/ssf/streams', { stream_id: id, description: 'x' })).text,
      (await world.call('GET', `/ssf/status?stream_id=${id}`)).text,
    ];
    for (const said of answers) expect(said).not.toMatch(/nowhere-in-clear|authorization/);
    expect(await headerOf(id)).toBe(SECRET);
    const { rows: tables } = await world.deployment.sql.query(
      `select format('%I', relname) as name from pg_class where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace`,
    );
    for (const { name } of tables as { name: string }[]) {
      const found = await world.deployment.sql.query(
        `select from ${name} as t where t::text like '%nowhere-in-clear%'`,
      );
      expect([name, found.rowCount]).toEqual([name, 0]);
    }
  });

  it('keeps its authorization header in a PATCH with the same URL; a new URL or a PUT without the header removes it', async () => {
    const { stream_id } = await world.create({ delivery: pushTo(HERE, SECRET) });
    await send('PATCH', { stream_id, delivery: pushTo(HERE) });
    expect(await headerOf(stream_id)).toBe(SECRET);
    await send('PATCH', { stream_id, delivery: pushTo(HERE, 'Basic other-one') });
    expect(await headerOf(stream_id)).toBe('Basic other-one');
    await send('PATCH', { stream_id, delivery: pushTo(`${HERE}2`) });
    expect(await headerOf(stream_id)).toBeNull();
    await send('PATCH', { stream_id, delivery: pushTo(HERE, SECRET) });
    await send('PUT', { stream_id, delivery: pushTo(HERE) });
    expect(await headerOf(stream_id)).toBeNull();
    await world.call('DELETE', `/ssf/streams?stream_id=${stream_id}`);
  });

  it('changes from push to poll and back by PATCH, and to poll by a PUT without delivery', async () => {
    const { stream_id } = await world.create({ delivery: pushTo(HERE, SECRET) });
    const poll = () => world.call('POST', `/ssf/streams/${stream_id}/poll`, { returnImmediately: true });
    expect((await poll()).status).toBe(404);
    const { baseUrl } = world.deployment.process.service.identity;
    const polled = { method: POLL, endpoint_url: `${baseUrl}/ssf/streams/${stream_id}/poll` };
    expect((await send('PATCH', { stream_id, delivery: { method: POLL } })).delivery).toEqual(polled);
    expect((await poll()).status).toBe(200);
    expect(await rowOf(stream_id)).toEqual({ method: 'poll', url: '', root: null, sealed: null });
    expect((await send('PATCH', { stream_id, delivery: pushTo(HERE) })).delivery).toEqual(pushTo(HERE));
    expect((await send('PUT', { stream_id })).delivery).toEqual(polled);
    await world.call('DELETE', `/ssf/streams?stream_id=${stream_id}`);
  });

  it('has no URL and no authorization header stored after it is deleted', async () => {
    const { stream_id } = await world.create({ delivery: pushTo(HERE, SECRET) });
    await world.call('DELETE', `/ssf/streams?stream_id=${stream_id}`);
    expect(await rowOf(stream_id)).toMatchObject({ url: '', root: null, sealed: null });
  });
});

describe('an endpoint_url', () => {
  it.each([
    ['not there', undefined],
    ['http', 'http://gateway.example/'],
    ['another port', 'https://gateway.example:8443/'],
    ['loopback', 'https://127.0.0.1/'],
    ['loopback by name', 'https://localhost/'],
    ['private', 'https://10.0.0.1/'],
    ['link-local', 'https://169.254.169.254/latest/meta-data'],
    ['IPv6 loopback', 'https://[::1]/'],
    ['IPv4 in IPv6', 'https://[::ffff:10.0.0.1]/'],
    ['a decimal address', 'https://2130706433/'],
    ['of a name of the inside', 'https://metadata.google.internal/'],
    ['of a name without a dot', 'https://gateway/'],
    ['with credentials', 'https://me:secret@gateway.example/'],
    ['with a fragment', 'https://gateway.example/#x'],
    ['not in its normal form', 'https://GATEWAY.example/'],
    ['another scheme', 'file:///etc/passwd'],
    ['too long', `https://gateway.example/${'x'.repeat(2048)}`],
    ['not one line', 'https://gateway.example/\r\nx: y'],
  ])('that is %s is refused with 400 at creation, by PATCH and by PUT', async (_, endpoint_url) => {
    const delivery = { method: PUSH, ...(endpoint_url !== undefined && { endpoint_url }) };
    const { stream_id } = await world.create({ delivery: pushTo(HERE, SECRET) });
    const statuses = [
      (await world.call('POST', '/ssf/streams', { delivery })).status,
      (await world.call('PATCH', '/ssf/streams', { stream_id, delivery })).status,
      (await world.call('PUT', '/ssf/streams', { stream_id, delivery })).status,
    ];
    expect(statuses).toEqual([400, 400, 400]);
    expect(await rowOf(stream_id)).toMatchObject({ url: HERE });
    await world.call('DELETE', `/ssf/streams?stream_id=${stream_id}`);
  });

  it('that the delivery guard refuses is refused at creation, for the whole corpus', async () => {
    // A missing slash at the end is added.
    const refused = REFUSED_URLS.filter((url) => url !== 'https://acme.example');
    const taken: unknown[] = [];
    let key = '';
    for (const [i, url] of refused.entries()) {
      // Stays below the rate limit of a key.
      if (i % 100 === 0) key = (await world.deployment.createTenants()).rpKey;
      const { status } = await world.call('POST', '/ssf/streams', { delivery: pushTo(url) }, key);
      if (status !== 400) taken.push({ url, status });
    }
    expect(taken).toEqual([]);
  });

  it.each(['', ' x', 'x ', 'a\r\nx-injected: 1', 'a\nb', 'ä', '\u0000', 'x'.repeat(4097)])(
    'with the authorization header %j is refused with 400, and the answer does not contain the header',
    async (header) => {
      const answer = await world.call('POST', '/ssf/streams', { delivery: pushTo(HERE, header) });
      expect(answer.status).toBe(400);
      if (header.length > 3) expect(answer.text).not.toContain(JSON.stringify(header).slice(1, -1));
    },
  );
});
