/**
 * Records of authority that was taken away. They are kept beside the fence in the folder `revoked` (migration 0046,
 * `svc_kept_revoked`) and written to the log (revocation-log.ts). Each has a name, and JSON of one shape for each kind.
 */
import {
  checkShape,
  type Failure,
  type ObjectShape,
  oneOf,
  open,
  type ShapeFailureCode,
  scalar,
  text,
} from '@svc/codec';
import type { ApiKeyId, DidKey, DidWeb, JsonObject, OrgId } from '@svc/protocol';
import type { EntitlementPush } from '../ports/entitlements.ts';
import type { PauseRecord, PauseTarget } from '../ports/pauses.ts';
import type { KeyState } from '../ports/principals.ts';
import type { ServiceKeyEnd } from '../ports/service-keys.ts';

/** Identifies one registration of a Principal, because its DID may have another holder since. */
interface OfRegistration {
  readonly principal: DidWeb;
  readonly sinceMs: number;
}

/** A key of a Principal that was retired or compromised; `active` where the key was registered again since. */
export interface EndedKey extends OfRegistration {
  readonly kind: 'key';
  readonly kid: string;
  readonly state: KeyState;
  /** Null in records of versions that did not store the key. */
  readonly publicKeyMultibase: string | null;
}

export interface RevokedApiKey {
  readonly kind: 'api-key';
  readonly keyId: ApiKeyId;
}

export interface DisabledAgent extends OfRegistration {
  readonly kind: 'agent';
  readonly agent: DidKey;
}

/** The latest push of the console, whether it allows or blocks. */
export interface PushedEntitlement {
  readonly kind: 'entitlement';
  readonly orgId: OrgId;
  readonly push: EntitlementPush;
}

/** The latest change of a pause, whether it paused or resumed. */
export interface ChangedPause extends PauseTarget, Pick<PauseRecord, 'isPaused' | 'reason'> {
  readonly kind: 'pause';
  /** Null in log lines that do not have it. */
  readonly changedAtMs: number | null;
  /** When the owner was registered, which identifies the registration. */
  readonly sinceMs: number;
}

export interface EndedServiceKey {
  readonly kind: 'service-key';
  readonly kid: string;
  readonly publicKeyMultibase: string;
  readonly ends: readonly ServiceKeyEnd[];
}

/** Entries of a status list that were revoked while nothing could sign the list. */
export interface UnlistedEntries {
  readonly kind: 'unlisted';
  /** Id of the list and number of the copy, together. */
  readonly id: string;
  readonly url: string;
  /** Base64. */
  readonly bits: string;
}

export type RevokedRecord =
  | EndedKey
  | RevokedApiKey
  | DisabledAgent
  | PushedEntitlement
  | ChangedPause
  | EndedServiceKey
  | UnlistedEntries;
/** Kinds of records that are also written to the log. */
export type LoggedRecord = EndedKey | DisabledAgent | PushedEntitlement | ChangedPause;
export type RevokedKind = RevokedRecord['kind'];
export type RevokedOf<Kind extends RevokedKind> = Extract<RevokedRecord, { readonly kind: Kind }>;

interface Format<Record> {
  /** The part of the record's name after `kind:`. */
  readonly idOf: (record: Record) => string;
  /**
   * Members that identify the subject. A record that was copied after its row was deleted has none of them; such a
   * record is ignored.
   */
  readonly concerns: ObjectShape;
  /** Members without which the record cannot be applied, although its subject is known. */
  readonly says: ObjectShape;
  /** Reads a record from its id and the kept JSON. */
  readonly read: (id: string, kept: JsonObject) => Record;
}

const aText = text('a string', () => true);
const aNumber = scalar('a number', (value) => typeof value === 'number');
const aFlag = scalar('true or false', (value) => typeof value === 'boolean');
const aNumberOrNull = scalar('a number or null', (value) => value === null || typeof value === 'number');
const aList = scalar('a list', Array.isArray);

// Open, because each also has the number of its copy, and a later version may have written more members.
const NO_MORE = open({});
const OF_REGISTRATION = { principal: aText, since_ms: aNumber };

const FORMATS: { readonly [Kind in RevokedKind]: Format<RevokedOf<Kind>> } = {
  key: {
    idOf: ({ kid }) => kid,
    concerns: open(OF_REGISTRATION),
    says: NO_MORE,
    read: (kid, { principal, since_ms, state, public_key_multibase: publicKey }) => ({
      ...{ kind: 'key', kid, principal: principal as DidWeb, sinceMs: since_ms as number },
      // A key that has a record has ended, whatever an unknown state means.
      state: KEY_STATES.find((one) => one === state) ?? 'retired',
      publicKeyMultibase: typeof publicKey === 'string' ? publicKey : null,
    }),
  },
  'api-key': {
    idOf: ({ keyId }) => keyId,
    concerns: NO_MORE,
    says: NO_MORE,
    read: (keyId) => ({ kind: 'api-key', keyId: keyId as ApiKeyId }),
  },
  agent: {
    idOf: ({ principal, agent }) => `${principal} ${agent}`,
    concerns: open(OF_REGISTRATION),
    says: open({ agent: aText }),
    read: (_, { principal, since_ms, agent }) => ({
      ...{ kind: 'agent', principal: principal as DidWeb, sinceMs: since_ms as number },
      agent: agent as DidKey,
    }),
  },
  entitlement: {
    idOf: ({ orgId }) => orgId,
    concerns: open({ as_of_ms: aNumber }),
    says: open({
      ...{ production: oneOf('allowed', 'blocked'), production_until_ms: aNumberOrNull },
      ...{ check_cap: aNumberOrNull, cap_since_ms: aNumberOrNull },
      reason: oneOf('trial', 'paid', 'past_due_grace', 'canceled', 'comp', 'none'),
    }),
    read: (orgId, kept) => ({
      ...{ kind: 'entitlement', orgId: orgId as OrgId },
      push: {
        production: kept.production as EntitlementPush['production'],
        productionUntilMs: kept.production_until_ms as number | null,
        checkCap: kept.check_cap as number | null,
        capSinceMs: kept.cap_since_ms as number | null,
        reason: kept.reason as EntitlementPush['reason'],
        asOfMs: kept.as_of_ms as number,
      },
    }),
  },
  pause: {
    idOf: ({ scope, owner, subject }) => `${scope} ${owner} ${subject}`,
    concerns: open({
      scope: oneOf('grant', 'agent', 'principal', 'relying_party', 'org', 'service'),
      ...{ owner: aText, subject: aText, is_paused: aFlag, since_ms: aNumber },
    }),
    says: NO_MORE,
    read: (_, kept) => ({
      ...{ kind: 'pause', scope: kept.scope as PauseTarget['scope'] },
      ...{ owner: kept.owner as string, subject: kept.subject as string },
      ...{ isPaused: kept.is_paused as boolean, sinceMs: kept.since_ms as number },
      reason: typeof kept.reason === 'string' ? kept.reason : null,
      changedAtMs: typeof kept.changed_at_ms === 'number' ? kept.changed_at_ms : null,
    }),
  },
  'service-key': {
    idOf: ({ kid }) => kid,
    concerns: open({ ends: aList }),
    says: open({ public_key: aText }),
    read: (kid, { public_key: publicKey, ends }) => ({
      ...{ kind: 'service-key', kid, publicKeyMultibase: publicKey as string },
      ends: SERVICE_KEY_ENDS.filter((end) => (ends as readonly unknown[]).includes(end)),
    }),
  },
  unlisted: {
    idOf: ({ id }) => id,
    concerns: open({ url: aText, bits: aText }),
    says: NO_MORE,
    read: (id, { url, bits }) => ({ kind: 'unlisted', id, url: url as string, bits: bits as string }),
  },
};

const KEY_STATES: readonly KeyState[] = ['active', 'retired', 'compromised'];
const SERVICE_KEY_ENDS: readonly ServiceKeyEnd[] = ['retired', 'compromised'];

/** The name under which SQL keeps the record: its kind, a colon, and its id. */
export const nameOf = (record: RevokedRecord): string =>
  nameOfKind(record.kind, (FORMATS[record.kind] as Format<RevokedRecord>).idOf(record));

export const nameOfKey = (kid: string): string => nameOfKind('key', kid);

const nameOfKind = (kind: RevokedKind, id: string): string => `${kind}:${id}`;

/**
 * Reads a record of this or an earlier version. Null: the record is to be ignored, for example because only a later
 * version knows its kind. Throws where its subject is known and it is damaged, because ignoring it would give the
 * authority back.
 */
export const parseRecord = (name: string, kept: JsonObject): RevokedRecord | null => {
  const colon = name.indexOf(':');
  const kind = name.slice(0, colon);
  if (!isKind(kind)) return null;
  const { concerns, says, read } = FORMATS[kind];
  if (faultsOf(kept, concerns).length > 0) return null;
  const [fault] = faultsOf(kept, says);
  if (fault !== undefined)
    throw new Error(`${name} beside the fence or in the log is damaged: ${fault.message}`);
  return read(name.slice(colon + 1), kept);
};

/** The records that are not to be ignored. */
export const parseRecords = (
  all: readonly { readonly name: string; readonly kept: JsonObject }[],
): readonly RevokedRecord[] => all.flatMap(({ name, kept }) => parseRecord(name, kept) ?? []);

const isKind = (kind: string): kind is RevokedKind => Object.hasOwn(FORMATS, kind);

const faultsOf = (kept: JsonObject, shape: ObjectShape): readonly Failure<ShapeFailureCode>[] => {
  const failures: Failure<ShapeFailureCode>[] = [];
  checkShape(kept, shape, { what: 'record', failures });
  return failures;
};

/** The JSON of a logged record besides its name: the members that SQL writes, without the number of the copy. */
export const keptOf = (record: LoggedRecord): JsonObject => {
  switch (record.kind) {
    case 'key':
      return {
        ...{ principal: record.principal, since_ms: record.sinceMs },
        ...{ state: record.state, public_key_multibase: record.publicKeyMultibase },
      };
    case 'agent':
      return { principal: record.principal, since_ms: record.sinceMs, agent: record.agent };
    case 'entitlement': {
      const { production, productionUntilMs, checkCap, capSinceMs, reason, asOfMs } = record.push;
      return {
        ...{ production, production_until_ms: productionUntilMs, check_cap: checkCap },
        ...{ cap_since_ms: capSinceMs, reason, as_of_ms: asOfMs },
      };
    }
    case 'pause': {
      const { scope, owner, subject, isPaused, reason, changedAtMs, sinceMs } = record;
      return {
        ...{ scope, owner, subject, is_paused: isPaused, reason },
        ...{ changed_at_ms: changedAtMs, since_ms: sinceMs },
      };
    }
  }
};
