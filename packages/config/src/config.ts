/** The parsed configuration (protocol §14). Contains secrets: never log this object. */
import type { OrgId } from '@svc/protocol';

export type Database =
  | { readonly kind: 'external'; readonly url: string }
  /** A PostgreSQL server that the process starts in `dataDir`. Development only. */
  | { readonly kind: 'embedded' };

/** Host name → loopback base URL, and `txt:<name>` → TXT answers, for local tests of hosted DIDs. */
export interface OutboundMap {
  readonly hosts: Readonly<Record<string, string>>;
  readonly txt: Readonly<Record<string, readonly string[]>>;
}

/** The fence: detects a database that was set back or replaced (protocol §10). */
export interface FenceConfig {
  /** `file:///folder` or `s3://bucket/prefix`. */
  readonly place: string;
  /** Endpoint of the S3-compatible storage; null: Amazon's. */
  readonly endpoint: string | null;
  readonly maxAgeMs: number;
}

/** The store for closed days (docs/decisions/0068-how-a-day-goes-cold.md). */
export interface ColdConfig {
  /** `file:///folder` or `s3://bucket/prefix`. */
  readonly place: string;
  /** Endpoint of the S3-compatible storage; null: Amazon's. */
  readonly endpoint: string | null;
  /** 0: no day is packed. */
  readonly hotDays: number;
  readonly graceDays: number;
}

export interface SelfServeLimits {
  /** Calls of one provision key, per node. */
  readonly perMinute: number;
  /** Sign-ups from one customer address, per node. */
  readonly ipPerHour: number;
  /** Starters and first Receipts of one relying party, per node. */
  readonly relyingPartyPerHour: number;
  /** New orgs in a UTC day, on all nodes together. */
  readonly orgsPerDay: number;
}

/** Limits of one customer's use of shared resources. Rates are per node. */
export interface TenantLimits {
  /** Live API keys of each Principal, relying party and org, and of the operator's observers; on all nodes together. */
  readonly liveKeys: number;
  /** Principals and relying parties of an org, on all nodes together. */
  readonly members: number;
  /** Changes that an org which signed itself up may make in all before it has a plan; on all nodes together. */
  readonly changesWithoutPlan: number;
  /** Calls per minute, without verifications, of all keys of a subject. */
  readonly subjectPerMinute: number;
  /** The same for an org with all its members. */
  readonly orgPerMinute: number;
  /** Verifications per minute of all relying parties of an org. */
  readonly orgVerifiesPerMinute: number;
  /** Open connections of one client address; not applied behind proxies. */
  readonly connectionsPerAddress: number;
}

export interface Config {
  readonly env: 'development' | 'production';
  readonly host: string;
  readonly port: number;
  /** API processes behind the port. */
  readonly processes: number;
  readonly adminHost: string;
  readonly adminPort: number;
  /** Public address, without a trailing slash. */
  readonly baseUrl: string;
  /** The form used in DIDs: the colon before a port is `%3A`. */
  readonly domain: string;
  /** Prefix of every `statusListCredential`, without a trailing slash. */
  readonly statusBaseUrl: string;
  /** Host name (with port) that serves status lists at the bare path, or null if they live under `baseUrl`. */
  readonly statusHost: string | null;
  readonly database: Database;
  /** The database that reports are read from; null: `database`. */
  readonly databaseReadUrl: string | null;
  /** True: a synchronous standby has everything that was answered. The process monitors whether it does. */
  readonly promisesStandby: boolean;
  /** Null: no fence. */
  readonly fence: FenceConfig | null;
  /** Null: no store for cold days. */
  readonly cold: ColdConfig | null;
  readonly dataDir: string;
  /** Null: generate one and print it (development). */
  readonly adminToken: string | null;
  /** All are accepted, so that the key can be rotated. Empty: self-serve is off. */
  readonly provisionKeys: readonly string[];
  /**
   * Keys from which webhook secrets are derived; new secrets use the first. Empty: no webhooks are sent, except in a
   * demonstration.
   */
  readonly webhookKeys: readonly string[];
  /** True: Shared Signals streams are served and pushed. */
  readonly ssf: boolean;
  /** Path of a JWK set, active key first. Null: generate in `dataDir` (development). */
  readonly receiptKeysPath: string | null;
  readonly statusKeysPath: string | null;
  readonly sandboxKeysPath: string | null;
  /** Path of the passphrase of encrypted private key files. Null: no key file is encrypted. */
  readonly keyPassphrasePath: string | null;
  /** Path of the PIN of PKCS#11 tokens whose URI names none. */
  readonly pkcs11PinPath: string | null;
  /** `auto`: libsodium, if it can be loaded. */
  readonly ed25519: 'auto' | 'node';
  readonly demo: boolean;
  /** Calls per UTC day that store something in the sandbox, on all nodes together. */
  readonly demoPerDay: number;
  /** Null: off. */
  readonly selfServe: SelfServeLimits | null;
  readonly tenantLimits: TenantLimits;
  readonly entitlements: 'log' | 'enforce';
  readonly compOrgs: readonly OrgId[];
  readonly selfTestOrgs: readonly OrgId[];
  /** Number of proxies in front of the process that append to `X-Forwarded-For`. */
  readonly trustProxyHops: number;
  readonly outboundMap: OutboundMap | null;
}

export type ParsedConfig =
  | { readonly ok: true; readonly config: Config }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Configuration of the conformance runner. It calls hosts that customers name, so it holds no key and no token. */
export interface RunnerConfig
  extends Pick<
    Config,
    'env' | 'adminHost' | 'adminPort' | 'baseUrl' | 'domain' | 'statusBaseUrl' | 'outboundMap'
  > {
  readonly databaseUrl: string;
}

export type ParsedRunnerConfig =
  | { readonly ok: true; readonly config: RunnerConfig }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Members that are needed only for calls, and by the process that answers them. */
type OfCalls =
  | 'host'
  | 'port'
  | 'processes'
  | 'statusHost'
  | 'databaseReadUrl'
  | 'adminToken'
  | 'provisionKeys'
  | 'receiptKeysPath'
  | 'sandboxKeysPath'
  | 'demo'
  | 'demoPerDay'
  | 'selfServe'
  | 'trustProxyHops';

/** Members that API and worker have in common. */
export type ServiceConfig = Omit<Config, OfCalls>;

/** Configuration of the worker. It closes days and signs status lists; it signs no Receipt and admits no caller. */
export type WorkerConfig = ServiceConfig & {
  readonly database: Extract<Database, { readonly kind: 'external' }>;
};

export type ParsedWorkerConfig =
  | { readonly ok: true; readonly config: WorkerConfig }
  | { readonly ok: false; readonly faults: readonly string[] };
