/**
 * The published document of a profile, which a Receipt pins by hash (protocol §8). It is generated from the table of
 * checks, so it always matches the checks that run.
 */

import { DAY_MS, DID_WEB_MAX_CHARS, HTU_MAX_CHARS, type JsonObject, jcs, MAX_JSON_DEPTH } from '@svc/codec';
import { PERIODS } from '../budgets/period.ts';
import type { AnyCheck } from '../checks/table.ts';
import { MAX_ACTION_STRING_CHARS } from '../model/action.ts';
import { MAX_METHODS, MAX_RESOURCES } from '../model/capability.ts';
import { STATUS_INDEX_MAX_DIGITS, STATUS_URI_MAX_CHARS } from '../model/credential-status.ts';
import {
  GRANT_MAX_AUDIENCE,
  GRANT_MAX_CAPABILITIES,
  GRANT_MAX_CHARS,
  GRANT_MAX_VALIDITY_MS,
} from '../model/grant.ts';
import { MAX_KID_CHARS } from '../model/jws-header.ts';
import { PROOF_MAX_CHARS } from '../model/proof.ts';
import { MAX_ASTERISK_RUNS, MAX_PATTERN_CHARS } from '../resources/resource-pattern.ts';
import type { Profile } from './profile.ts';

/** The published profile document in RFC 8785 form; its SHA-256 is `protocol.profile_hash`. */
export const profileDocument = (profile: Profile, checks: readonly AnyCheck[]): string =>
  jcs({
    profile: profile.id,
    checks: checks.map(({ id, title, requires, reasons }) => ({
      id,
      title: profile.titles?.[id] ?? title,
      requires: [...requires],
      reasons: [...reasons],
    })),
    constraint_keys: {
      'commerce:purchase': [...profile.constraintKeys['commerce:purchase']],
      'api:call': [...profile.constraintKeys['api:call']],
    },
    ...(profile.budgets ? { periods: [...PERIODS] } : {}),
    limits: {
      grant_characters: GRANT_MAX_CHARS,
      proof_characters: PROOF_MAX_CHARS,
      validity_days: GRANT_MAX_VALIDITY_MS / DAY_MS,
      capabilities: GRANT_MAX_CAPABILITIES,
      audience: GRANT_MAX_AUDIENCE,
      resources: MAX_RESOURCES,
      resource_pattern_characters: MAX_PATTERN_CHARS,
      resource_pattern_wildcards: MAX_ASTERISK_RUNS,
      methods: MAX_METHODS,
      action_string_characters: MAX_ACTION_STRING_CHARS,
      url_characters: HTU_MAX_CHARS,
      kid_characters: MAX_KID_CHARS,
      did_web_characters: DID_WEB_MAX_CHARS,
      status_uri_characters: STATUS_URI_MAX_CHARS,
      status_index_digits: STATUS_INDEX_MAX_DIGITS,
      json_depth: MAX_JSON_DEPTH,
    },
  } satisfies JsonObject);
