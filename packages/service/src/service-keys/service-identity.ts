/** The service's own identity: its DID, its addresses and its published keys (interface §Authentication rule 4). */
import { type DidWeb, encodeBase64url, formatSeconds, type JsonObject, jcs } from '@svc/protocol';
import { type KeyTime, REVOKED, VALID_FROM, VALID_UNTIL } from '@svc/transparency';
import { CONTEXTS, multikeyMethod } from '../principals/did-document.ts';
import type { KeySet } from './key-set.ts';

/** What the service publishes under one DID. */
export interface PublishedIdentity {
  readonly did: DidWeb;
  readonly receiptKeys: Pick<KeySet, 'published'>;
  readonly statusKeys: Pick<KeySet, 'published'>;
}

export interface ServiceIdentity extends PublishedIdentity {
  /** The domain as written in DIDs: a port is `%3A<port>`. */
  readonly domain: string;
  readonly env: 'development' | 'production';
  readonly baseUrl: string;
  /** Issuer of the sandbox's Grants, which need no plan. Its slug is reserved. */
  readonly sandboxPrincipal: DidWeb;
  /** Status lists are `{statusBaseUrl}/<principal domain>/<n>`. */
  readonly statusBaseUrl: string;
  readonly receiptKeys: KeySet;
  readonly statusKeys: KeySet;
  /** The identity under each former DID, with the keys that the database has of it. */
  readonly formers: readonly PublishedIdentity[];
}

/**
 * The identity whose DID a kid has: a former one, or else the present one, also for a DID that the service never had.
 */
export const identityOfKey = (identity: ServiceIdentity, kid: string): PublishedIdentity =>
  identity.formers.find(({ did }) => kid.startsWith(`${did}#`)) ?? identity;

/**
 * The service's own DID document, as RFC 8785 text. It has every receipt and status key that ever signed, for ever,
 * each with its time. `svc:…` are absolute IRIs, so JSON-LD processors accept them unchanged; `revoked` is a term of
 * Multikey.
 */
export const buildServiceDidDocument = ({ did, receiptKeys, statusKeys }: PublishedIdentity): string => {
  const keys = [...receiptKeys.published, ...statusKeys.published];
  return jcs({
    '@context': [...CONTEXTS],
    id: did,
    verificationMethod: keys.map(({ kid, publicKeyMultibase, time }) => ({
      ...multikeyMethod(did, kid, publicKeyMultibase),
      ...presentTime(time),
    })),
    assertionMethod: keys.map(({ kid }) => kid),
  } satisfies JsonObject);
};

const presentTime = ({ fromMs, untilMs, isCompromised }: KeyTime): JsonObject => ({
  ...(fromMs !== null && { [VALID_FROM]: formatSeconds(fromMs) }),
  ...(untilMs !== null && { [VALID_UNTIL]: formatSeconds(untilMs) }),
  ...(untilMs !== null && isCompromised && { [REVOKED]: formatSeconds(untilMs) }),
});

/**
 * The same keys as a JWK Set (RFC 7517, RFC 8037 §2) in RFC 8785 text, for JOSE libraries. These accept a key of the
 * set without regard to its time. So compromised keys are left out. Retired keys stay, with their time as `nbf` and
 * `exp`, which no library checks.
 */
export const buildServiceJwks = ({ receiptKeys, statusKeys }: Omit<PublishedIdentity, 'did'>): string =>
  jwkSetOf([...receiptKeys.published, ...statusKeys.published].filter(({ time }) => !time.isCompromised));

/**
 * The keys that sign events: status keys that have not ended. A receiver of events accepts any key of this set
 * (protocol §17).
 */
export const buildEventJwks = ({ statusKeys }: Pick<PublishedIdentity, 'statusKeys'>): string =>
  jwkSetOf(statusKeys.published.filter(({ time }) => time.untilMs === null));

const jwkSetOf = (keys: KeySet['published']): string =>
  jcs({
    keys: keys.map(({ kid, publicKey, time: { fromMs, untilMs } }) => ({
      ...{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid, x: encodeBase64url(publicKey) },
      ...(fromMs !== null && { nbf: Math.floor(fromMs / 1000) }),
      ...(untilMs !== null && { exp: Math.floor(untilMs / 1000) }),
    })),
  } satisfies JsonObject);
