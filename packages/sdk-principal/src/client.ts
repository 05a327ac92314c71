/**
 * The Principal's client (interface §Principal lifecycle; §API keys, identity, audit, usage): one object over one
 * transport, an area of the interface each.
 */
import { parseDidWeb, type Signer } from '@svc/codec';
import {
  type ApiKeys,
  type AuditLog,
  anObjectWith,
  type CallOptions,
  connectionRules,
  createApiKeys,
  createAuditLog,
  createDirectory,
  createEventSubscriptions,
  createPauses,
  createTransport,
  type Directory,
  type EventSubscriptions,
  getMe,
  getUsage,
  helpful,
  isObject,
  isText,
  jsonObject,
  type Me,
  optionally,
  type Pause,
  type Pauses,
  type Principal,
  type PrincipalDirectoryEntry,
  type Reader,
  type Rules,
  readArgument,
  readPrincipal,
  readPrincipalDirectoryEntry,
  rule,
  type Usage,
  type UsageFilter,
  withHelp,
} from '@svc/sdk-core';
import { type Agents, createAgents } from './agents.ts';
import { createApprovals, type PrincipalApprovals } from './approvals.ts';
import { createOwnDecisions, type OwnDecisions } from './decisions.ts';
import { createGrants, type Grants } from './grants.ts';
import { createOwnRecord, type OwnRecord } from './own-record.ts';
import { disablePatience, revocationPatience } from './patience.ts';
import { createSigningKeys, type SigningKeys } from './signing-keys.ts';

/** How a Principal reaches the service, and what it signs with. */
export interface PrincipalClientOptions {
  /** The service's address, https. */
  baseUrl: string;
  /** `SVC_PRINCIPAL_KEY` of the environment unless given; read at the first call. */
  apiKey?: string;
  /**
   * Whose decisions, approvals and record they are where `apiKey` is the key of an org: the did:web DID of a member.
   * With a key of the Principal's own it is not needed.
   */
  principal?: string;
  /** Needed by `grants.issue` only. */
  signer?: Signer;
  /**
   * The service's DID document, pinned: by its keys `approvals.check` tells a genuine Receipt. It is fetched from
   * `baseUrl` unless given, and then proves no more than that the service agrees with itself and with what the Agent
   * signed.
   */
  didDocument?: unknown;
  /** The service's DID: a Receipt of another one is not genuine. That of the document unless given. */
  serviceDid?: string;
  /** The `fetch` of the runtime unless given. */
  fetch?: typeof fetch;
  /**
   * For the whole of a call, retries included. 10,000 unless given; what takes authority away has three times as long,
   * `agents.disable` at least 45 seconds.
   */
  timeoutMs?: number;
  /** Permits plain http to a host that is not loopback. */
  allowHttp?: boolean;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** 0 ≤ value < 1; spreads retries. */
  random?: () => number;
}

/**
 * What a Principal can do: issue Grants, take them back, look at what was decided under them. Every call throws
 * `SvcError`.
 */
export interface PrincipalClient {
  /** Issues, revokes and lists Grants. */
  readonly grants: Grants;
  /** Ends keys that Grants are signed with. */
  readonly keys: SigningKeys;
  /** Notes and disables Agents. */
  readonly agents: Agents;
  /**
   * Stops a Grant, an Agent or everything for a while, and goes on. An org's key, given as `apiKey`, does so for its
   * members, and stops a member or the whole org.
   * @example
   * await client.pauses.pause({ scope: 'agent', subject: agent.did }, { reason: 'It buys too much.' });
   * await client.pauses.resume({ scope: 'agent', subject: agent.did });
   */
  readonly pauses: Pauses<Exclude<Pause['scope'], 'service'>>;
  /** What relying parties ask this Principal to approve. */
  readonly approvals: PrincipalApprovals;
  /** What was decided about this Principal's own Grants. */
  readonly decisions: OwnDecisions;
  /** The API keys of this Principal. */
  readonly apiKeys: ApiKeys;
  /** This Principal itself. */
  readonly principals: OwnRecord;
  /** Every Principal; of this one `get` gives the full record. */
  readonly directory: Directory<Principal | PrincipalDirectoryEntry>;
  /**
   * Subscriptions to events: endpoints that `verifyWebhook` guards.
   * @example
   * const { subscription_id, secret } = await client.subscriptions.create({ url: 'https://acme.example/hooks/svc', types: ['budget.low'] });
   * await client.subscriptions.test(subscription_id);
   */
  readonly subscriptions: EventSubscriptions;
  /** What was done with this Principal's API keys. */
  readonly audit: AuditLog;
  /** How many decisions there were against this Principal's Grants, per UTC day; exact at every moment. */
  usage(filter?: Omit<UsageFilter, 'principal'>, options?: CallOptions): Promise<Usage>;
  /** Whose key this is. */
  me(options?: CallOptions): Promise<Me>;
}

const aDidDocument = rule(
  "the service's DID document, an object with an id",
  (value): value is object => isObject(value) && isText(value.id),
);

const OPTIONS: Rules<PrincipalClientOptions> = {
  ...connectionRules,
  principal: optionally(
    rule('the did:web DID of a Principal', (value): value is string => parseDidWeb(String(value)) !== null),
  ),
  didDocument: optionally(aDidDocument),
  serviceDid: optionally(
    rule("the service's did:web DID", (value): value is string => parseDidWeb(String(value)) !== null),
  ),
  signer: optionally(anObjectWith('a signer { kid, sign }, as signerFromJwk gives it', ['kid'], ['sign'])),
};

/**
 * The client of one Principal (interface §Principal lifecycle): Grants are signed here, and the private key stays here.
 * Nothing is sent before the first call.
 * @throws SvcError `configuration` for an option that is unknown, missing or of another type
 * @example
 * const client = createPrincipalClient({ baseUrl: 'https://svc.example', signer: signerFromJwk(privateJwk, kid) });
 * const { grant, grantId } = await client.grants.issue({ agent: agent.did, capabilities });
 */
export function createPrincipalClient(options: PrincipalClientOptions): PrincipalClient {
  return withHelp(Object(options).baseUrl, () => helpful(clientOf(options), options.baseUrl));
}

function clientOf(options: PrincipalClientOptions): PrincipalClient {
  const read = readArgument('createPrincipalClient', options, OPTIONS, 'configuration');
  const { timeoutMs = 10_000 } = read;
  const patience = revocationPatience(timeoutMs);
  const apiKeyVariable = 'SVC_PRINCIPAL_KEY';
  const transport = createTransport({ ...read, apiKeyVariable, timeoutMs });
  const grants = createGrants(transport, read, patience);
  return {
    grants,
    keys: createSigningKeys(transport, patience),
    agents: createAgents(transport, disablePatience(timeoutMs)),
    pauses: createPauses(transport, patience),
    approvals: createApprovals(transport, grants, read),
    decisions: createOwnDecisions(transport, read.principal),
    apiKeys: createApiKeys(transport),
    principals: createOwnRecord(transport, read.principal),
    directory: createDirectory(transport, readPrincipalView),
    subscriptions: createEventSubscriptions(transport),
    audit: createAuditLog(transport),
    usage: (filter = {}, call = {}) => getUsage(transport, filter, call),
    me: (call = {}) => getMe(transport, call),
  };
}

/** The full record where it is the caller's own, the directory entry otherwise. */
const readPrincipalView: Reader<Principal | PrincipalDirectoryEntry> = (value, at) =>
  jsonObject(value, at).registered_at === undefined
    ? readPrincipal(value, at)
    : readPrincipalDirectoryEntry(value, at);
