import { expect, it } from 'vitest';
import { databaseTlsFault, hostsWithoutTls } from './database-tls.ts';
import { parseConfig, parseRunnerConfig, parseWorkerConfig } from './parse-config.ts';

it.each([
  ['postgres://svc@db.internal/svc', ['db.internal']],
  ['postgres://svc:p@10.0.0.7:5432/svc', ['10.0.0.7']],
  ['postgres://svc:p@localhost@db.internal/svc', ['db.internal']],
  ['postgres://svc@localhost#@db.internal/svc', []],
  ['postgres://svc@one:5432,two:5432/svc?target_session_attrs=any', ['one', 'two']],
  ['postgres://svc@127.0.0.1,two/svc', ['two']],
  ['postgres://svc@[fd00::7]:5432/svc', ['[fd00::7]']],
  ['postgres://svc@db/svc?sslmode=disable', ['db']],
  ['postgres://svc@db.internal/svc#a?sslmode=require', ['db.internal']],
  ['postgres://svc@db/svc?sslmode=allow', ['db']],
  ['postgres://svc@db/svc?ssl=false', ['db']],
  ['postgres://svc@db/svc?uselibpqcompat=true&sslmode=prefer', ['db']],
  ['postgres://svc@localhost.evil.example/svc', ['localhost.evil.example']],
  ['postgres://svc@127.0.0.1.evil.example/svc', ['127.0.0.1.evil.example']],
  ['postgres://svc@localhost/svc?host=db.internal', ['db.internal']],
  ['postgres://svc@db/svc?sslmode=verify-full&sslmode=disable', ['db']],
  ['postgres://svc@db/svc?ssl=true&ssl=false', ['db']],
  ['postgres:///svc?host=localhost&host=db.internal', ['db.internal']],
  ['postgres://svc@db/svc?sslmode=disable&sslmode=verify-full', []],
  ['postgres://svc@localhost/svc', []],
  ['postgres://svc@127.0.0.1:5432/svc', []],
  ['postgres://svc@[::1]:5432/svc', []],
  ['postgres://svc@%2Fvar%2Frun%2Fpostgresql/svc', []],
  ['postgres:///svc?host=/var/run/postgresql', []],
  ['postgres://svc@db/svc?sslmode=verify-full&sslrootcert=/etc/svc/ca.pem', []],
  ['postgres://svc@db/svc?sslmode=require', []],
  ['postgres://svc@db/svc?uselibpqcompat=true&sslmode=require', []],
  ['postgres://svc@db/svc?ssl=true', []],
])('%s reaches these hosts without TLS: %j', (url, hosts) => {
  expect(hostsWithoutTls(url)).toEqual(hosts);
});

const production = {
  SVC_ENV: 'production',
  SVC_DOMAIN: 'svc.example',
  SVC_ADMIN_TOKEN: 'a'.repeat(40),
  SVC_RECEIPT_KEYS: '/receipt-keys.json',
  SVC_STATUS_KEYS: '/status-keys.json',
  SVC_FENCE: 'none',
  DATABASE_URL: 'postgres://svc:secret@db.internal/svc',
};

it.each(['hunter2?z', 'hunter2/z'])(
  'an invalid DATABASE_URL is refused, and no part of it is shown: %s',
  (password) => {
    const url = `postgres://svc:${password}@db.internal:5432/svc`;
    expect(databaseTlsFault({ SVC_ENV: 'production', DATABASE_URL: url })).toMatch(
      /^DATABASE_URL must be a postgres:.*encoded$/,
    );
  },
);

it.each([
  ['API', parseConfig],
  ['worker', parseWorkerConfig],
  ['runner', parseRunnerConfig],
])(
  'the %s does not start in production with a remote database without TLS, unless SVC_DATABASE_WITHOUT_TLS=1',
  (_, parse) => {
    const refused = parse(production);
    const faults = refused.ok ? [] : refused.faults;
    expect(faults).toEqual([
      expect.stringMatching(
        /reaches db\.internal without TLS.*sslmode=verify-full.*SVC_DATABASE_WITHOUT_TLS=1/,
      ),
    ]);
    expect(faults.join()).not.toContain('secret');
    expect(parse({ ...production, SVC_DATABASE_WITHOUT_TLS: '1' }).ok).toBe(true);
    expect(parse({ ...production, DATABASE_URL: `${production.DATABASE_URL}?sslmode=verify-full` }).ok).toBe(
      true,
    );
    expect(parse({ ...production, SVC_ENV: 'development' }).ok).toBe(true);
  },
);

it('a replica must be reached with TLS as well, unless SVC_DATABASE_WITHOUT_TLS=1', () => {
  const withTls = { ...production, DATABASE_URL: `${production.DATABASE_URL}?sslmode=verify-full` };
  const open = { ...withTls, DATABASE_READ_URL: 'postgres://svc:secret@replica.internal,db.internal/svc' };
  const refused = parseConfig(open);
  expect(refused.ok ? [] : refused.faults).toEqual([
    expect.stringMatching(/^DATABASE_READ_URL reaches replica\.internal, db\.internal without TLS/),
  ]);
  expect(parseConfig({ ...open, SVC_DATABASE_WITHOUT_TLS: '1' })).toMatchObject({
    ok: true,
    config: { databaseReadUrl: open.DATABASE_READ_URL },
  });
});

it('PGHOST counts only if DATABASE_URL names no host', () => {
  expect(hostsWithoutTls('postgres:///svc', 'db.internal')).toEqual(['db.internal']);
  expect(hostsWithoutTls('postgres://svc@localhost/svc', 'db.internal')).toEqual([]);
  expect(hostsWithoutTls('postgres:///svc', '/var/run/postgresql')).toEqual([]);
  expect(hostsWithoutTls('postgres:///svc?sslmode=verify-full', 'db.internal')).toEqual([]);
  const local = { ...production, DATABASE_URL: 'postgres:///svc' };
  expect(databaseTlsFault({ ...local, PGHOST: 'db.internal' })).toContain('reaches db.internal without TLS');
  expect(databaseTlsFault(local)).toBeNull();
});

it('an unknown SVC_ENV is treated as production', () => {
  expect(databaseTlsFault({ ...production, SVC_ENV: 'prod' })).toContain('db.internal');
  expect(databaseTlsFault({ ...production, SVC_ENV: 'development' })).toBeNull();
  expect(databaseTlsFault({ ...production, SVC_ENV: '' })).toBeNull();
});
