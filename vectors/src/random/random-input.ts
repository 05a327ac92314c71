/**
 * Random evaluations near the boundary between ALLOW and DENY. Each starts as the honest scene of the vectors and gets
 * a few edits: random ones of authority, URLs, times, facts and tokens, and those of the vectors themselves, in
 * combinations that no vector has.
 */

import { isProfileId, PROFILES, portableCrypto, sha256Of } from '@svc/protocol';
import { CASES } from '../evaluate-vectors.ts';
import { GRANT_ID, grantToken, honestScene, inputOf, type Members, type Scene } from '../scene.ts';
import { KEYS } from '../test-keys.ts';
import { mutateBytes, mutateCharacters, mutateJson, mutateJsonText, mutateParts } from './mutations.ts';
import { anyJson, ODD_STRINGS } from './odd-values.ts';
import type { Random } from './random.ts';
import { randomApiAuthority, randomPurchaseAuthority } from './random-authority.ts';
import { respell } from './random-url.ts';

type Edit = (scene: Scene, random: Random) => void;

const FACTS = ['principal', 'document', 'allocation', 'status', 'balances', 'spent'] as const;
const OTHER_RP = 'did:web:other.example';
const OTHER_GRANT_ID = 'urn:svc:grant:01M7VZGA1GB9D5MPJTB9D5MPJV';
const KEY_STATES = ['active', 'retired', 'compromised'] as const;
const MILLISECONDS = [-1, 0, 1, 999, 1000, 5000, 5001, 30_000, 30_001, 60_000, 3_600_000, 3_600_001] as const;

/**
 * Without the edits that pad a token to a length: they measure the token, and never end if another edit has fixed its
 * length.
 */
const COMPOSABLE = CASES.filter(({ id }) => !/(?:characters|too-long)$/.test(id));

/** Applies the edit of one vector. Some edits cannot follow on another one and then throw. */
const asInVector: Edit = (scene, random) => {
  try {
    random.pick(COMPOSABLE).edit(scene);
  } catch {
    // The scene keeps the changes made before the error.
  }
};

const shifted = (instant: string, ms: number): string => new Date(Date.parse(instant) + ms).toISOString();

/** Well-formed changes of what the tokens say, of times and audiences, and of what the service knows. */
const MEANINGS: readonly Edit[] = [
  (scene, random) => {
    const { resource } = scene.action;
    if (typeof resource === 'string') scene.proof.payload.htu = respell(resource, random);
  },
  (scene, random) => {
    const bound = random.pick([scene.grant.payload.validFrom, scene.grant.payload.validUntil]);
    scene.now = shifted(String(bound), random.pick(MILLISECONDS) * random.pick([1, -1]));
    scene.resolvedAt = scene.now;
    scene.status.checked_at = scene.now;
  },
  (scene, random) => {
    scene.resolvedAt = shifted(scene.now, -random.pick(MILLISECONDS));
    scene.status.checked_at = shifted(scene.now, -random.pick(MILLISECONDS));
  },
  (scene, random) => {
    scene.proof.payload.iat = Math.floor(Date.parse(scene.now) / 1000) + random.below(140) - 70;
    scene.rp.proof_window_seconds = 1 + random.below(300);
  },
  (scene, random) => {
    scene.answers[random.pick(FACTS)] = random.pick(['absent', 'unavailable']);
  },
  (scene, random) => {
    const around = random.pick([scene.allocation.allocated_at, scene.grant.payload.validFrom]);
    const since = shifted(String(around), random.below(3) - 1);
    scene.principal.key = random.below(4) === 0 ? null : { state: random.pick(KEY_STATES), since };
    if (random.below(3) === 0) scene.principal.verification = 'unverified';
  },
  (scene, random) => {
    scene.allocation.grant_hash = random.below(3) === 0 ? null : sha256Of(portableCrypto, grantToken(scene));
    if (random.below(2) === 0) scene.grant.payload.iat = random.below(9);
  },
  (scene, random) => {
    const name = random.pick(['issuer', 'agent', 'status_list_credential', 'status_list_index']);
    if (random.below(2) === 0) scene.allocation[name] = random.pick(ODD_STRINGS);
    else scene.status.revoked = true;
  },
  (scene, random) => {
    scene.grant.subject.audience = random.pick([[OTHER_RP], [OTHER_RP, scene.rp.did], undefined]);
    if (random.below(2) === 0) scene.rp.did = OTHER_RP;
  },
  (scene, random) => {
    const of: Members = { aud: OTHER_RP, grant_id: OTHER_GRANT_ID, htm: 'PATCH' };
    const name = random.pick(Object.keys(of));
    scene.proof.payload[name] = of[name];
  },
  (scene, random) => {
    random.pick([scene.grant, scene.proof]).key = random.pick(Object.values(KEYS));
  },
  (scene, random) => {
    const other: Members = {
      type: 'api:call',
      amount: 42_699,
      currency: 'JPY',
      method: 'HEAD',
      resource: 'order/1',
    };
    const name = random.pick(Object.keys(scene.action));
    scene.presentedAction = { ...scene.action, [name]: other[name] };
  },
  (scene) => {
    scene.spent = true;
  },
];

/** Changes that make texts malformed. */
const FORMS: readonly Edit[] = [
  (scene, random) => {
    const { didKey, multikey } = random.pick([KEYS.agent, KEYS.principal]);
    const nearDid = mutateCharacters(didKey, random);
    const place = random.below(3);
    if (place === 0) scene.grant.subject.id = nearDid;
    else if (place === 1) scene.proof.payload.iss = nearDid;
    else scene.editDocument = (json) => json.replaceAll(multikey, nearDid.slice('did:key:'.length));
  },
  (scene, random) => {
    scene.presentedAction = mutateJson(JSON.parse(JSON.stringify(scene.action)), random);
  },
  (scene, random) => {
    const name = random.pick(['iat', 'exp', 'sub', 'aud', 'jti', 'htu', 'htm']);
    random.pick([scene.grant, scene.proof]).payload[name] = anyJson(random);
  },
  (scene, random) => {
    const edit = (json: string): string => JSON.stringify(mutateJson(JSON.parse(json), random));
    const token = random.pick([scene.grant, scene.proof]);
    if (random.below(3) === 0) token.editHeader = edit;
    else token.editPayload = edit;
  },
  (scene, random) => {
    random.pick([scene.grant, scene.proof]).editPayload = (json) => mutateJsonText(json, random);
  },
  (scene, random) => {
    const mutate = random.pick([mutateCharacters, mutateBytes]);
    random.pick([scene.grant, scene.proof]).editToken = (token) => mutate(token, random);
  },
  (scene, random) => {
    scene.proof.editToken = (token) => mutateParts(token, 'e30.e30.e30', random);
  },
  (scene, random) => {
    const mutateValue = (json: string): string => JSON.stringify(mutateJson(JSON.parse(json), random));
    const mutateText = (json: string): string => mutateJsonText(json, random);
    scene.editDocument = random.pick([mutateText, mutateValue]);
  },
];

/** Usually sets a random authority, and sometimes applies edits of the other kinds. */
const edit = (scene: Scene, random: Random): void => {
  if (random.below(4) > 0) random.pick([randomPurchaseAuthority, randomApiAuthority])(scene, random);
  for (let edits = random.below(3); edits > 0; edits--) random.pick(MEANINGS)(scene, random);
  if (random.below(3) === 0) asInVector(scene, random);
  if (random.below(4) === 0) random.pick(FORMS)(scene, random);
};

/** The next input. Null if the edits left nothing that can be signed. */
export const randomInput = (random: Random): unknown => {
  const scene = honestScene();
  edit(scene, random);
  const { profile } = scene.rp;
  if (isProfileId(profile) && PROFILES[profile].profile.budgets && scene.balances === undefined)
    scene.balances = { grant_id: scene.grant.payload.id ?? GRANT_ID, version: 0, capabilities: [] };
  try {
    // As sent over the wire, without what JSON cannot express.
    return JSON.parse(JSON.stringify(inputOf('random', scene)));
  } catch {
    return null;
  }
};
