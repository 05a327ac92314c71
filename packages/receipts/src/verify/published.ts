/**
 * The published tables of checks and trust configurations (interface §Versioning, protocol §7), by hash. A Receipt is
 * verified with the table that it was decided under, so entries are added and never changed. A test compares the latest
 * of each with the engine.
 */

export interface PublishedCheck {
  readonly id: string;
  readonly requires: readonly string[];
  readonly reasons: readonly string[];
  /** Whether the check makes a look-up and can therefore be unavailable. */
  readonly looksUp: boolean;
}

export interface PublishedTable {
  readonly hash: string;
  /** In pipeline order. */
  readonly checks: readonly PublishedCheck[];
  /** Whether the profile has budgets, so that an ALLOW may consume. */
  readonly budgets: boolean;
}

/** `id: requirements: reasons`; `+` marks a look-up, `*` requires every check above. */
const table = (hash: string, rows: string, budgets = false): PublishedTable => {
  const checks: PublishedCheck[] = [];
  for (const row of rows.trim().split('\n')) {
    const [id = '', requires = '', reasons = ''] = row.split(':');
    checks.push({
      id: id.replace('+', ''),
      requires: requires === '*' ? checks.map((above) => above.id) : words(requires),
      reasons: words(reasons),
      looksUp: id.endsWith('+'),
    });
  }
  return { hash, checks, budgets };
};

const words = (text: string): string[] => (text === '' ? [] : text.split(' '));

const BASE = `
P1::GRANT_MALFORMED UNSUPPORTED_FEATURE
T1+:P1:ISSUER_UNKNOWN
T2:T1:ISSUER_UNVERIFIED
T3:T1:ISSUER_KEY_COMPROMISED
P2+:P1 T1 T3:ISSUER_KEY_NOT_FOUND
P3:P2:GRANT_SIGNATURE_INVALID
P4:P3:GRANT_NOT_YET_VALID
P5:P3:GRANT_EXPIRED
P6+:P3:AUTHORITY_REVOKED
P7:P3:AUDIENCE_MISMATCH
P8::PROOF_MALFORMED
P9:P8:PROOF_SIGNATURE_INVALID
P10:P3 P9:PROOF_AGENT_MISMATCH
P11:P3 P9:PROOF_GRANT_MISMATCH
P12:P9:PROOF_AUDIENCE_MISMATCH
P13:P9:PROOF_EXPIRED
P15::ACTION_MALFORMED
P14:P9 P15:PROOF_ACTION_MISMATCH
P16:P3 P15:ACTION_NOT_AUTHORIZED
P17:P16:UNKNOWN_CONSTRAINT
P18:P17:CURRENCY_NOT_AUTHORIZED
P19:P18:AMOUNT_EXCEEDS_AUTHORITY
P20:P19:RESOURCE_NOT_AUTHORIZED
T5+:*:PROOF_REPLAYED
`;

/** P19 looks up what is left of a budget. */
const WITH_BUDGETS = /* @__PURE__ */ BASE.replace('P19:', 'P19+:');

/** Published tables by profile id, the latest first. */
export const PUBLISHED_PROFILES: Readonly<Record<string, readonly PublishedTable[]>> = {
  'svc-base-v1': [
    /* @__PURE__ */ table('sha256:0975a6dc1ec391b4d27271459c10281b9436849c527bd0519abab4d8e339aec2', BASE),
    /* @__PURE__ */ table('sha256:5f9de5299c5a12702418fdd6410521928d41780ff72c884c97229ac2e8f50950', BASE),
  ],
  'svc-base-v2': [
    /* @__PURE__ */ table(
      'sha256:752ae3be25a7f0b9531efa9da92b7620f359b25dd88b9371100e5546ed415b96',
      WITH_BUDGETS,
      true,
    ),
    /* @__PURE__ */ table(
      'sha256:6177b922e8dd4dd844ff6a0d3235660ce3a3ed62e59858051a1de5096dc9fd05',
      WITH_BUDGETS,
      true,
    ),
  ],
};

export interface PublishedTrustConfig {
  readonly hash: string;
  readonly didDocumentMaxAgeSeconds: number;
  readonly statusListMaxAgeSeconds: number;
}

/** Published trust configurations by version. */
export const PUBLISHED_TRUST_CONFIGS: Readonly<Record<string, PublishedTrustConfig>> = {
  'svc-trust-config-1': {
    hash: 'sha256:0c4a5230f05be003701063986b5d01534d64cdf8423c322f83eb12ba7123c78e',
    didDocumentMaxAgeSeconds: 3600,
    statusListMaxAgeSeconds: 30,
  },
};

/** Null if the profile is unknown, or known only under other hashes. */
export const findPublishedTable = (profile: string, hash: string): PublishedTable | null =>
  tablesOf(profile).find((published) => published.hash === hash) ?? null;

/** Empty if the profile is unknown. */
export const listPublishedHashes = (profile: string): readonly string[] =>
  tablesOf(profile).map((published) => published.hash);

export const findTrustConfig = (version: string): PublishedTrustConfig | null =>
  Object.hasOwn(PUBLISHED_TRUST_CONFIGS, version) ? (PUBLISHED_TRUST_CONFIGS[version] ?? null) : null;

const tablesOf = (profile: string): readonly PublishedTable[] =>
  Object.hasOwn(PUBLISHED_PROFILES, profile) ? (PUBLISHED_PROFILES[profile] ?? []) : [];

/** Ids of the checks of a group, by number. */
export interface CheckIds {
  /** Named by every published table. */
  readonly inEach: readonly string[];
  /** Named by some published tables only. */
  readonly inSome: readonly string[];
}

const idsOf = (letter: 'P' | 'T'): CheckIds => {
  const tables = Object.values(PUBLISHED_PROFILES)
    .flat()
    .map(({ checks }) => new Set(checks.map(({ id }) => id)));
  const ids = [...new Set(tables.flatMap((named) => [...named]))]
    .filter((id) => id.startsWith(letter))
    .sort((a, b) => Number(a.slice(1)) - Number(b.slice(1)));
  const isInEach = (id: string) => tables.every((named) => named.has(id));
  return { inEach: ids.filter(isInEach), inSome: ids.filter((id) => !isInEach(id)) };
};

export const PROTOCOL_CHECKS: CheckIds = /* @__PURE__ */ idsOf('P');
export const TRUST_CHECKS: CheckIds = /* @__PURE__ */ idsOf('T');
