/**
 * The Principal's client (interface §Principal lifecycle; §API keys, identity, audit, usage): one object over one
 * transport, with a member for each area of the interface.
 */
import { parseDidWeb, type Signer } from '@svc/codec';
import {
  type ApiKeys,
  type AuditLog,
  anObjectWith,
  type CallOptions,
  checkPinnedService,
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
  /** If absent, read from the environment variable `SVC_PRINCIPAL_KEY` at the first call. */
  apiKey?: string;
  /**
   * With an org's `apiKey`: the did:web DID of the member whose decisions, approvals and record are meant. Not needed
   * with a key of the Principal itself.
   */
  principal?: string;
  /** Needed by `grants.issue` and `approvals.approve`. */
  signer?: Signer;
  /**
   * The service's DID document, pinned. `approvals.check` verifies Receipts with its keys. Unless given it is fetched
   * from `baseUrl`. The check then proves only that the service's answers agree with each other and with what the Agent
   * signed.
   */
  didDocument?: unknown;
  /** The service's DID; a Receipt of another service is not genuine. Unless given, the DID of the document. */
  serviceDid?: string;
  /** The `fetch` of the runtime unless given. */
  fetch?: typeof fetch;
  /**
   * Time for a whole call, retries included, in milliseconds. 10,000 unless given. Calls that take authority away have
   * three times as long, `agents.disable` at least 45 seconds.
   */
  timeoutMs?: number;
  /** Permits plain http to a host that is not loopback. */
  allowHttp?: boolean;
  /** The clock, in milliseconds since the epoch. */
  now?: () => number;
  /** 0 ≤ value < 1, for spreading retries in time. */
  random?: () => number;
}

/** The calls of a Principal: issue Grants, revoke them, read the decisions under them. Every call throws `SvcError`. */
export interface PrincipalClient {
  /** Issues, revokes and lists Grants. */
  readonly grants: Grants;
  /** Retires keys that sign Grants, or reports them as compromised. */
  readonly keys: SigningKeys;
  /** Registers and disables Agents. */
  readonly agents: Agents;
  /**
   * Pauses a Grant, an Agent or the whole Principal, and resumes it. With an org's `apiKey`: also those of its members,
   * a member, or the whole org.
   * @example
   * await client.pauses.pause({ scope: 'agent', subject: agent.did }, { reason: 'It buys too much.' });
   * await client.pauses.resume({ scope: 'agent', subject: agent.did });
   */
  readonly pauses: Pauses<Exclude<Pause['scope'], 'service'>>;
  /** Requests of relying parties for this Principal's approval. */
  readonly approvals: PrincipalApprovals;
  /** Decisions about this Principal's own Grants. */
  readonly decisions: OwnDecisions;
  /** The API keys of this Principal. */
  readonly apiKeys: ApiKeys;
  /** This Principal's own record. */
  readonly principals: OwnRecord;
  /** Every Principal. For this one, `get` returns the full record. */
  readonly directory: Directory<Principal | PrincipalDirectoryEntry>;
  /**
   * Subscriptions to events. Your endpoints check the events with `verifyWebhook`.
   * @example
   * const { subscription_id, secret } = await client.subscriptions.create({ url: 'https://acme.example/hooks/svc', types: ['budget.low'] });
   * await client.subscriptions.test(subscription_id);
   */
  readonly subscriptions: EventSubscriptions;
  /** What was done with this Principal's API keys. */
  readonly audit: AuditLog;
  /** The numbers of decisions about this Principal's Grants per UTC day; always exact. */
  usage(filter?: Omit<UsageFilter, 'principal'>, options?: CallOptions): Promise<Usage>;
  /** The identity of the API key. */
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
 * Makes the client of one Principal (interface §Principal lifecycle). Grants are signed locally; the private key is
 * never sent. Nothing is sent before the first call.
 * @throws SvcError `configuration` for an option that is unknown, missing or of another type, or if
 * `didDocument` is not of `serviceDid`
 * @example
 * const client = createPrincipalClient({ baseUrl: 'https://svc.example', signer: signerFromJwk(privateJwk, kid) });
 * const { grant, grantId } = await client.grants.issue({ agent: agent.did, capabilities });
 */
export function createPrincipalClient(options: PrincipalClientOptions): PrincipalClient {
  return withHelp(Object(options).baseUrl, () => helpful(clientOf(options), options.baseUrl));
}

function clientOf(options: PrincipalClientOptions): PrincipalClient {
  const read = readArgument('createPrincipalClient', options, OPTIONS, 'configuration');
  checkPinnedService(read.didDocument, read.serviceDid);
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

/** The full record if it is the caller's own, otherwise the directory entry. */
const readPrincipalView: Reader<Principal | PrincipalDirectoryEntry> = (value, at) =>
  jsonObject(value, at).registered_at === undefined
    ? readPrincipal(value, at)
    : readPrincipalDirectoryEntry(value, at);
