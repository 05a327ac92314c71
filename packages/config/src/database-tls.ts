/** Whether connections of a `DATABASE_URL` are encrypted, by the rules of the driver (pg-connection-string). */
// User info ends at the last `@`, as in the driver: the password may contain an unencoded `@`.
const SHAPE = /^postgres(?:ql)?:\/\/(?:[^/?#]*@)?([^@/?#]*)[^?#]*(?:\?([^#]*))?(?:#.*)?$/s;
/** `allow` is missing: the driver does not define it and uses TLS for unknown modes, but libpq would use plain text. */
const ENCRYPTED = new Set(['prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']);

/**
 * The hosts, without ports, that are other machines and are reached in plain text. `pgHost`: value of `PGHOST`, used if
 * the URL names no host.
 */
export const hostsWithoutTls = (databaseUrl: string, pgHost = ''): readonly string[] => {
  const [, authority = '', query = ''] = SHAPE.exec(databaseUrl) ?? [];
  // The last value of a repeated parameter counts, as in the driver.
  const parameters = new Map(new URLSearchParams(query));
  const mode = parameters.get('sslmode');
  const isLibpq = parameters.get('uselibpqcompat') === 'true';
  // With libpq's meaning, `prefer` uses plain text if the server offers no TLS.
  if (
    mode !== undefined ? ENCRYPTED.has(mode) && !(isLibpq && mode === 'prefer') : isOn(parameters.get('ssl'))
  )
    return [];
  const hosts = (parameters.get('host') || authority || pgHost).split(',').map(withoutPort);
  return [...new Set(hosts.filter((host) => !isLocal(host)))];
};

const isOn = (ssl: string | undefined): boolean => ssl === 'true' || ssl === '1';

const withoutPort = (host: string): string => decodeURIComponent(host.replace(/:[0-9]*$/, ''));

/** True for a socket (no host, or a folder) and for loopback. */
const isLocal = (host: string): boolean =>
  host === '' ||
  host.startsWith('/') ||
  host === 'localhost' ||
  host === '[::1]' ||
  /^127(?:\.[0-9]{1,3}){3}$/.test(host);

/**
 * Why this process must not use the URL in its `DATABASE_URL` (or in the variable `name`). Null: it may, or the
 * variable is not set. The text shows hosts and no other part of the URL. An unknown `SVC_ENV` is treated as
 * production.
 */
export const databaseTlsFault = (
  env: Readonly<Record<string, string | undefined>>,
  name: 'DATABASE_URL' | 'DATABASE_READ_URL' = 'DATABASE_URL',
): string | null => {
  const url = env[name];
  const isProduction = (env.SVC_ENV || 'development') !== 'development';
  if (!isProduction || env.SVC_DATABASE_WITHOUT_TLS === '1' || !url) return null;
  const open = hostsWithoutTls(url, env.PGHOST);
  // Text before a `?` or `/` in a password that is not encoded is no host, and must not be shown.
  if (open.some((host) => /^[^[].*:/.test(host)))
    return `${name} must be a postgres:// or postgresql:// address, with special characters in its password percent-encoded`;
  if (open.length === 0) return null;
  return (
    `${name} reaches ${open.join(', ')} without TLS, so anybody on the network path could read and change all data: ` +
    'add ?sslmode=verify-full (with &sslrootcert=<file> for a CA of your own), or set SVC_DATABASE_WITHOUT_TLS=1 if the network is private'
  );
};
