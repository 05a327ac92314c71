import { describe, expect, it } from 'vitest';
import type { Config } from './config.ts';
import { describeVariables, VARIABLES } from './env.ts';
import { type Environment, parseConfig, parseRunnerConfig } from './parse-config.ts';

const TOKEN = 'a'.repeat(32);
const PRODUCTION: Environment = {
  SVC_ENV: 'production',
  SVC_BASE_URL: 'https://svc.example',
  DATABASE_URL: 'postgres://svc:secret-password@db.internal/svc?sslmode=verify-full',
  SVC_ADMIN_TOKEN: TOKEN,
  SVC_RECEIPT_KEYS: '/keys/receipt.json',
  SVC_STATUS_KEYS: '/keys/status.json',
  SVC_FENCE: 'file:///var/lib/svc-fence',
};

const configOf = (env: Environment): Config => {
  const parsed = parseConfig(env);
  if (!parsed.ok) throw new Error(parsed.faults.join('; '));
  return parsed.config;
};
const faultsOf = (env: Environment): readonly string[] => {
  const parsed = parseConfig(env);
  return parsed.ok ? [] : parsed.faults;
};

describe('parseConfig', () => {
  it('returns the development defaults for an empty environment', () => {
    expect(configOf({})).toEqual({
      env: 'development',
      host: '127.0.0.1',
      adminHost: '127.0.0.1',
      port: 8080,
      processes: 1,
      adminPort: 9464,
      baseUrl: 'http://localhost:8080',
      domain: 'localhost%3A8080',
      statusBaseUrl: 'http://localhost:8080/status-lists',
      statusHost: null,
      database: { kind: 'embedded' },
      databaseReadUrl: null,
      promisesStandby: false,
      fence: null,
      cold: null,
      dataDir: '.data',
      adminToken: null,
      provisionKeys: [],
      receiptKeysPath: null,
      webhookKeys: [],
      ssf: false,
      statusKeysPath: null,
      sandboxKeysPath: null,
      keyPassphrasePath: null,
      pkcs11PinPath: null,
      ed25519: 'auto',
      demo: false,
      demoPerDay: 20_000,
      selfServe: null,
      tenantLimits: {
        liveKeys: 20,
        members: 200,
        changesWithoutPlan: 2_000,
        subjectPerMinute: 600,
        orgPerMinute: 2_400,
        orgVerifiesPerMinute: 1_000_000,
        connectionsPerAddress: 512,
      },
      entitlements: 'log',
      compOrgs: [],
      selfTestOrgs: [],
      trustProxyHops: 0,
      outboundMap: null,
    });
  });

  it('derives base URL and domain from the port, the domain or the base URL, whichever is given', () => {
    expect(configOf({ SVC_PORT: '9000' })).toMatchObject({
      baseUrl: 'http://localhost:9000',
      domain: 'localhost%3A9000',
    });
    expect(configOf({ SVC_DOMAIN: 'svc.test' })).toMatchObject({
      baseUrl: 'http://svc.test',
      domain: 'svc.test',
    });
    expect(configOf({ SVC_BASE_URL: 'http://svc.test:81/' })).toMatchObject({
      baseUrl: 'http://svc.test:81',
      domain: 'svc.test%3A81',
    });
    const { SVC_BASE_URL: _, ...rest } = PRODUCTION;
    expect(configOf({ ...rest, SVC_DOMAIN: 'svc.example' })).toMatchObject({
      baseUrl: 'https://svc.example',
    });
  });

  it('keeps the admin port on loopback, whatever SVC_HOST is, unless SVC_ADMIN_HOST is set', () => {
    expect(configOf({ SVC_HOST: '0.0.0.0' })).toMatchObject({ host: '0.0.0.0', adminHost: '127.0.0.1' });
    expect(configOf({ SVC_ADMIN_HOST: '10.0.0.7' })).toMatchObject({
      host: '127.0.0.1',
      adminHost: '10.0.0.7',
    });
  });

  it('gives status lists a separate host in production', () => {
    expect(configOf(PRODUCTION)).toMatchObject({
      statusBaseUrl: 'https://status.svc.example',
      statusHost: 'status.svc.example',
    });
  });

  it('reports all faults of an environment together', () => {
    const faults = faultsOf({
      SVC_PORT: 'http',
      SVC_ENV: 'prod',
      SVC_TRUST_PROXY: '-1',
      SVC_NONSENSE: '1',
      DATABASE_URL: 'mysql://x',
    });
    expect(faults.map((fault) => fault.split(' ')[0]).sort()).toEqual([
      'DATABASE_URL',
      'SVC_ENV',
      'SVC_NONSENSE',
      'SVC_PORT',
      'SVC_TRUST_PROXY',
    ]);
  });

  it('refuses an unknown SVC_ variable, and ignores other variables and those of our client libraries', () => {
    expect(faultsOf({ SVC_PROT: '1' })).toHaveLength(1);
    expect(faultsOf({ PATH: '/bin', NODE_ENV: 'x', SVC_RP_KEY: 'dk_rp_x' })).toEqual([]);
  });

  it('reads an empty variable as not set', () => {
    expect(configOf({ SVC_PORT: '', SVC_DEMO: '' })).toMatchObject({ port: 8080, demo: false });
  });

  it.each([
    ['SVC_ENV', ['development', 'production'], ['Production', 'test', ' ']],
    ['SVC_PORT', ['1', '65535'], ['0', '65536', '1.5', '1e3', '-1', '08080', 'x']],
    [
      'SVC_BASE_URL',
      ['https://a.b', 'http://a:1/'],
      ['ftp://a', 'a.b', 'http://u@a', 'http://a?b', 'http://a b'],
    ],
    ['SVC_DOMAIN', ['a.b', 'localhost%3A80'], ['a:80', 'https://a', 'A.b', 'a..b', '-a.b', 'a%3a80']],
    [
      'DATABASE_URL',
      [
        'postgres://u:p@h/d',
        'postgresql://h/d',
        'postgres://u:p@one:1,two/d?target_session_attrs=read-write',
      ],
      ['http://h', 'h', 'postgres://one,/d', 'postgres://one:x,two/d', 'postgres:///d'],
    ],
    ['SVC_ADMIN_TOKEN', [TOKEN], ['a'.repeat(31), `${TOKEN} `, `dk_${TOKEN}`]],
    [
      'SVC_PROVISION_KEYS',
      [TOKEN, `${TOKEN},${'b'.repeat(40)}`],
      ['short', `${TOKEN},`, `${TOKEN},${TOKEN}`],
    ],
    [
      'SVC_FENCE',
      ['none', 'file:///var/lib/svc-fence', 's3://backups', 's3://backups/svc/one'],
      ['/var/lib/svc-fence', 'file://x', 's3:///x', 'https://x', 's3://b?x'],
    ],
    ['SVC_FENCE_MAX_AGE_MS', ['500', '1000', '10000'], ['0', '499', '10001']],
    ['SVC_DEMO', ['0', '1'], ['true', 'yes', '2']],
    ['SVC_SELF_SERVE', ['0'], ['on']],
    ['SVC_SELF_SERVE_PER_MINUTE', ['1', '100000'], ['0', 'none']],
    ['SVC_SELF_SERVE_IP_PER_HOUR', ['1'], ['0']],
    ['SVC_SELF_SERVE_RP_PER_HOUR', ['1'], ['0']],
    ['SVC_SELF_SERVE_PER_DAY', ['1', '1000000'], ['0', '-1']],
    ['SVC_SELF_SERVE_CHANGES', ['1', '2000'], ['0', 'none']],
    ['SVC_DEMO_PER_DAY', ['1', '20000'], ['0', 'none']],
    ['SVC_MAX_LIVE_KEYS', ['1', '20', '10000'], ['0', '10001', 'none']],
    ['SVC_MAX_MEMBERS', ['1', '200', '100000'], ['0', '100001', 'none']],
    ['SVC_SUBJECT_PER_MINUTE', ['120', '1000000'], ['119', '0']],
    ['SVC_ORG_PER_MINUTE', ['120'], ['119']],
    ['SVC_ORG_VERIFIES_PER_MINUTE', ['1'], ['0']],
    ['SVC_CONNECTIONS_PER_ADDRESS', ['1', '8192'], ['0', '8193']],
    ['SVC_SANDBOX_KEYS', ['/etc/svc/sandbox-keys.json'], []],
    ['SVC_PKCS11_PIN_FILE', ['/run/credentials/pin'], []],
    ['SVC_ED25519', ['auto', 'node'], ['sodium', '1']],
    ['SVC_KEY_PASSPHRASE_FILE', ['/run/credentials/passphrase'], []],
    ['SVC_ENTITLEMENTS', ['log', 'enforce'], ['off']],
    ['SVC_COMP_ORGS', ['org_01KAGT3Z5M8Q2R7V9X1C4E6H8M'], ['org_1', 'x']],
    ['SVC_SELF_TEST_ORGS', ['org_01KAGT3Z5M8Q2R7V9X1C4E6H8M'], ['org_1']],
    ['SVC_TRUST_PROXY', ['0', '10'], ['true', '11', '-1']],
    [
      'SVC_OUTBOUND_MAP',
      ['{"a.example":"http://127.0.0.1:9","txt:_x.a.example":["v"]}', '{}'],
      [
        '[]',
        '{"a":"http://10.0.0.1"}',
        '{"a":1}',
        '{"txt:a":"v"}',
        '{"a":"http://127.0.0.1","a":"http://127.0.0.1"}',
      ],
    ],
  ])('for %s accepts %j and refuses %j', (name, good, bad) => {
    // `production` is tested together with the variables that it requires.
    for (const text of good)
      expect([text, faultsOf({ ...(text === 'production' ? PRODUCTION : {}), [name]: text })]).toEqual([
        text,
        [],
      ]);
    for (const text of bad) expect([text, faultsOf({ [name]: text }).length]).toEqual([text, 1]);
  });

  it('accepts each number exactly within the bounds that its fault names', () => {
    const bounded = Object.entries(VARIABLES).flatMap(([name, { parse }]) => {
      const parsed = parse('x');
      const [, least, most] =
        /^must be an integer from (\d+) to (\d+)$/.exec(parsed.ok ? '' : parsed.must) ?? [];
      return least === undefined || most === undefined ? [] : [{ name, parse, least, most }];
    });
    expect(bounded.length).toBeGreaterThan(15);
    for (const { name, parse, least, most } of bounded) {
      expect([name, parse(least), parse(most)]).toEqual([
        name,
        { ok: true, value: Number(least) },
        { ok: true, value: Number(most) },
      ]);
      expect([name, parse(String(Number(least) - 1)).ok, parse(String(Number(most) + 1)).ok]).toEqual([
        name,
        false,
        false,
      ]);
    }
  });

  it('shows a wrong value in its fault, but never a secret', () => {
    expect(faultsOf({ SVC_PORT: 'http' })).toEqual([
      'SVC_PORT must be an integer from 1 to 65535, not "http"',
    ]);
    const faults = faultsOf({
      SVC_ADMIN_TOKEN: 'hunter2',
      DATABASE_URL: 'mysql://u:hunter2@h',
      SVC_PROVISION_KEYS: 'hunter2',
      SVC_BASE_URL: 'https://u:hunter2@svc.example',
    });
    expect(faults).toHaveLength(4);
    expect(faults.join()).not.toContain('hunter2');
  });

  it.each([
    ['SVC_RECIEPT_KEYS', 'SVC_RECEIPT_KEYS'],
    ['SVC_PROT', 'SVC_PORT'],
    ['SVC_DATADIR', 'SVC_DATA_DIR'],
  ])(
    'for the unknown %s suggests %s, and suggests nothing for a name that resembles no variable',
    (name, meant) => {
      expect(faultsOf({ [name]: '1' })).toEqual([expect.stringContaining(`did you mean ${meant}?`)]);
      expect(faultsOf({ SVC_NONSENSE: '1' })).toEqual(['SVC_NONSENSE is not a variable of this service']);
    },
  );

  it('refuses the same port for both listeners, and the same secret for two roles', () => {
    expect(faultsOf({ SVC_PORT: '9464' })).toHaveLength(1);
    expect(faultsOf({ SVC_ADMIN_TOKEN: TOKEN, SVC_PROVISION_KEYS: TOKEN })).toHaveLength(1);
  });
});

describe('inconsistent settings', () => {
  it('SVC_SSF=1 without SVC_WEBHOOK_KEYS is refused, unless SVC_DEMO=1', () => {
    expect(faultsOf({ SVC_SSF: '1' })).toEqual([expect.stringContaining('SVC_SSF=1 needs SVC_WEBHOOK_KEYS')]);
    expect(configOf({ SVC_SSF: '1', SVC_WEBHOOK_KEYS: TOKEN }).ssf).toBe(true);
    expect(configOf({ SVC_SSF: '1', SVC_DEMO: '1' }).ssf).toBe(true);
  });

  it('SVC_SELF_SERVE=1 without SVC_PROVISION_KEYS is refused', () => {
    expect(faultsOf({ SVC_SELF_SERVE: '1' })).toEqual([
      expect.stringContaining('SVC_SELF_SERVE=1 needs SVC_PROVISION_KEYS'),
    ]);
    expect(configOf({ SVC_SELF_SERVE: '1', SVC_PROVISION_KEYS: TOKEN }).selfServe).toEqual({
      perMinute: 60,
      ipPerHour: 5,
      relyingPartyPerHour: 30,
      orgsPerDay: 500,
    });
  });

  it('DATABASE_READ_URL is refused without DATABASE_URL, and if both are equal', () => {
    const DATABASE_READ_URL = 'postgres://u:hunter2@replica/d';
    const faults = [
      ...faultsOf({ DATABASE_READ_URL }),
      ...faultsOf({ DATABASE_URL: DATABASE_READ_URL, DATABASE_READ_URL }),
    ];
    expect(faults).toEqual([
      expect.stringContaining('DATABASE_READ_URL needs DATABASE_URL'),
      expect.stringContaining('must not be the same as DATABASE_URL'),
    ]);
    expect(faults.join()).not.toContain('hunter2');
    const several = `${DATABASE_READ_URL.replace('replica', 'one:5432,two')}?target_session_attrs=standby`;
    expect(configOf({ DATABASE_URL: 'postgres://h/d', DATABASE_READ_URL: several })).toMatchObject({
      databaseReadUrl: several,
    });
  });

  it.each(['http://127.0.0.1:8080', 'http://[::1]:8080'])(
    'base URL %s is refused without SVC_DOMAIN: no did:web DID can name its host',
    (baseUrl) => {
      expect(faultsOf({ SVC_BASE_URL: baseUrl })).toEqual([expect.stringContaining('SVC_DOMAIN')]);
      expect(faultsOf({ SVC_BASE_URL: baseUrl, SVC_DOMAIN: 'svc.test' })).toEqual([]);
    },
  );

  it.each(['127.0.0.1', '127.0.0.1%3A80', 'svc.test%3A70000', 'SVC.test'])(
    'SVC_DOMAIN %s is refused',
    (domain) => {
      expect(faultsOf({ SVC_DOMAIN: domain })).toEqual([expect.stringContaining('SVC_DOMAIN must be')]);
    },
  );
});

describe('a production configuration', () => {
  it('is accepted with the required variables alone', () => {
    expect(configOf(PRODUCTION)).toMatchObject({ env: 'production', domain: 'svc.example', demo: false });
  });

  it.each([
    'DATABASE_URL',
    'SVC_ADMIN_TOKEN',
    'SVC_RECEIPT_KEYS',
    'SVC_STATUS_KEYS',
    'SVC_BASE_URL',
    'SVC_FENCE',
  ])('is refused without %s', (name) => {
    const faults = faultsOf({ ...PRODUCTION, [name]: undefined });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toContain(name);
  });

  it('has no fence only with SVC_FENCE=none, and is refused with SVC_FENCE_ENDPOINT but no S3 fence', () => {
    expect(configOf({ ...PRODUCTION, SVC_FENCE: 'none' }).fence).toBeNull();
    expect(
      configOf({ ...PRODUCTION, SVC_FENCE: 's3://fences/p', SVC_FENCE_ENDPOINT: 'http://store:9000' }).fence,
    ).toEqual({
      place: 's3://fences/p',
      endpoint: 'http://store:9000',
      maxAgeMs: 1_000,
    });
    expect(faultsOf({ ...PRODUCTION, SVC_FENCE_ENDPOINT: 'http://store:9000' })).toHaveLength(1);
  });

  it('packs days only with SVC_COLD, and is refused with SVC_COLD_ENDPOINT alone', () => {
    expect(configOf({ ...PRODUCTION, SVC_HOT_DAYS: '10' }).cold).toBeNull();
    const place = { SVC_COLD: 's3://cold/p', SVC_COLD_ENDPOINT: 'http://store:9000' };
    const cold = { place: 's3://cold/p', endpoint: 'http://store:9000' };
    expect(configOf({ ...PRODUCTION, ...place }).cold).toEqual({ ...cold, hotDays: 35, graceDays: 7 });
    const days = { SVC_HOT_DAYS: '0', SVC_COLD_GRACE_DAYS: '30' };
    expect(configOf({ ...PRODUCTION, ...place, ...days }).cold).toEqual({
      ...cold,
      hotDays: 0,
      graceDays: 30,
    });
    expect(faultsOf({ ...PRODUCTION, SVC_COLD_ENDPOINT: 'http://store:9000' })).toHaveLength(1);
  });

  it('with self-serve is refused without SVC_SANDBOX_KEYS', () => {
    const selfServe = { ...PRODUCTION, SVC_SELF_SERVE: '1', SVC_PROVISION_KEYS: 'p'.repeat(32) };
    expect(faultsOf(selfServe)).toEqual([expect.stringContaining('SVC_SANDBOX_KEYS is required')]);
    expect(faultsOf({ ...selfServe, SVC_SANDBOX_KEYS: '/etc/svc/sandbox-keys.json' })).toEqual([]);
  });

  it('is refused with SVC_DEMO=1, SVC_OUTBOUND_MAP or an http base URL', () => {
    expect(faultsOf({ ...PRODUCTION, SVC_DEMO: '1' })).toEqual(['SVC_DEMO is refused in production']);
    expect(faultsOf({ ...PRODUCTION, SVC_OUTBOUND_MAP: '{}' })).toEqual([
      'SVC_OUTBOUND_MAP is refused in production',
    ]);
    expect(faultsOf({ ...PRODUCTION, SVC_BASE_URL: 'http://svc.example' })).toEqual([
      'SVC_BASE_URL must be https in production',
    ]);
    expect(faultsOf({ ...PRODUCTION, SVC_DEMO: '0' })).toEqual([]);
  });
});

it('--help names every variable', () => {
  for (const name of Object.keys(VARIABLES)) expect(describeVariables()).toContain(name);
});

describe('parseRunnerConfig', () => {
  const RUNNER: Environment = {
    SVC_ENV: 'production',
    SVC_DOMAIN: 'svc.example',
    DATABASE_URL: 'postgres://svc_runner:secret@db.internal/svc?sslmode=verify-full',
  };

  it('returns the database, the addresses of the service and the admin port', () => {
    expect(parseRunnerConfig(RUNNER)).toEqual({
      ok: true,
      config: {
        env: 'production',
        adminHost: '127.0.0.1',
        adminPort: 9464,
        baseUrl: 'https://svc.example',
        domain: 'svc.example',
        statusBaseUrl: 'https://status.svc.example',
        outboundMap: null,
        databaseUrl: RUNNER.DATABASE_URL,
      },
    });
  });

  it('ignores keys, tokens, the fence and the port of the API, whether valid or not', () => {
    const others = {
      SVC_ADMIN_TOKEN: 'short',
      SVC_PROVISION_KEYS: 'x',
      SVC_RECEIPT_KEYS: '/keys/receipt.json',
      SVC_FENCE: 'nowhere',
      SVC_ADMIN_TOKEN_FILE: '/run/token',
      SVC_PORT: '9464',
    };
    expect(parseRunnerConfig({ ...RUNNER, ...others })).toEqual(parseRunnerConfig(RUNNER));
  });

  it.each([
    [{ SVC_OUTBOUND_MAP: '{}' }, 'SVC_OUTBOUND_MAP is refused in production'],
    [{ DATABASE_URL: '' }, 'DATABASE_URL is required in production'],
    [{ SVC_ENV: '', DATABASE_URL: '' }, /^DATABASE_URL is required: .* the embedded database/],
    [{ SVC_DOMAIN: '' }, /^SVC_BASE_URL or SVC_DOMAIN is required/],
    [{ SVC_ADMIN_TOKN: 'x' }, /did you mean SVC_ADMIN_TOKEN\?$/],
  ])('reports the fault of %j', (change, fault) => {
    const parsed = parseRunnerConfig({ ...RUNNER, ...change });
    expect(parsed).toEqual({ ok: false, faults: [expect.stringMatching(fault)] });
  });
});
