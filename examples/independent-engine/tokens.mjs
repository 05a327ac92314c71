// Parses a Grant, a Proof, an Action and a DID document: checks only their form, not what must be proven
// (docs/protocol.md §1–§5). Readers throw `Refused` with the reason.
import { isStrict, parseStrict } from './json.mjs';
import { bytesOfBase58, bytesOfBase64url, bytesOfMultikey, isDidKey, isDidWeb } from './keys.mjs';
import { isPattern, normalizeHtu } from './urls.mjs';

class Refused extends Error {}

const ulid = '[0-7][0-9A-HJKMNP-TV-Z]{25}';
const grantId = new RegExp(`^urn:svc:grant:${ulid}$`);
const isText = (value) => typeof value === 'string';
const isObject = (value) => value !== null && typeof value === 'object' && !Array.isArray(value);
const isAmount = (value) => Number.isSafeInteger(value) && value >= 0;
const isCurrency = (value) => isText(value) && /^[A-Z]{3}$/.test(value);
const isMethod = (value) => isText(value) && /^[A-Z]{1,32}$/.test(value);
const isUri = (value) => isText(value) && value.length <= 2048 && /^https?:\/\/[!-~]+$/.test(value);
const isSame = (value, wanted) => JSON.stringify(value) === JSON.stringify(wanted);
const isSetOf = (value, most, isItem) =>
  Array.isArray(value) &&
  value.length >= 1 &&
  value.length <= most &&
  value.every(isItem) &&
  new Set(value).size === value.length;

/** Whether an object has these members and no others; a trailing `?` marks an optional member. */
function hasExactly(object, ...names) {
  const required = names.filter((name) => !name.endsWith('?'));
  return required.every((name) => name in object) && hasOnly(object, ...names);
}

function hasOnly(object, ...names) {
  return Object.keys(object).every((key) => names.includes(key) || names.includes(`${key}?`));
}

/** Splits and decodes a token: the signed text, the signature and the two JSON objects. */
function openToken(token, maxLength, reason) {
  const need = needing(reason);
  need(token.length <= maxLength);
  const parts = token.split('.');
  need(parts.length === 3);
  const [header, payload, signature] = parts.map((part) => bytesOfBase64url(part));
  need(header !== null && payload !== null && signature !== null);
  const objectIn = (bytes) => {
    const value = parseStrict(new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes));
    need(isObject(value));
    return value;
  };
  try {
    const signed = token.slice(0, token.lastIndexOf('.'));
    return { signed, signature, header: objectIn(header), payload: objectIn(payload) };
  } catch {
    throw new Refused(reason);
  }
}

function needing(reason) {
  return (condition) => {
    if (!condition) throw new Refused(reason);
  };
}

const algorithms = ['EdDSA', 'Ed25519'];
const contexts = [
  'https://www.w3.org/ns/credentials/v2',
  'https://www.w3.org/ns/credentials/undefined-terms/v2',
];

/**
 * Returns the Grant. Throws with GRANT_MALFORMED or, if nothing is malformed, with UNSUPPORTED_FEATURE. The form of
 * budgets is checked only under a profile that has them.
 */
export function readGrant(token, hasBudgets) {
  const need = needing('GRANT_MALFORMED');
  let isKnown = true;
  const expect = (condition) => {
    isKnown &&= condition;
  };
  const { signed, signature, header, payload } = openToken(token, 16_384, 'GRANT_MALFORMED');
  need(header.typ === 'vc+jwt' && isText(header.alg));
  need(isText(header.kid) && header.kid.length >= 1 && header.kid.length <= 1024);
  expect(algorithms.includes(header.alg) && hasOnly(header, 'alg', 'typ', 'kid', 'cty?'));
  expect(!('cty' in header) || header.cty === 'vc');

  const { credentialStatus: status, credentialSubject: subject, validFrom, validUntil } = payload;
  need(isSame(payload['@context'], contexts));
  need(isSame(payload.type, ['VerifiableCredential', 'SvcGrant']));
  need(isText(payload.id) && grantId.test(payload.id));
  need(isDidWeb(payload.issuer));
  const [fromMs, untilMs] = [secondOf(validFrom), secondOf(validUntil)];
  need(fromMs < untilMs && untilMs <= fromMs + 90 * 86_400_000);
  need(!('iat' in payload) || Number.isSafeInteger(payload.iat));
  need(!('iss' in payload) || payload.iss === payload.issuer);
  need(!('jti' in payload) || payload.jti === payload.id);
  const names = ['@context', 'id', 'type', 'issuer', 'validFrom', 'validUntil', 'credentialStatus'];
  expect(hasOnly(payload, ...names, 'credentialSubject', 'iss', 'sub', 'jti', 'iat'));

  need(isObject(status) && isUri(status.id) && isUri(status.statusListCredential));
  need(isText(status.statusListIndex) && /^(?:0|[1-9][0-9]{0,15})$/.test(status.statusListIndex));
  need(isText(status.type) && isText(status.statusPurpose));
  expect(status.type === 'BitstringStatusListEntry' && status.statusPurpose === 'revocation');
  expect(hasOnly(status, 'id', 'type', 'statusPurpose', 'statusListIndex', 'statusListCredential'));

  expect(!Array.isArray(subject));
  need(!('sub' in payload) || isText(payload.sub));
  if (!Array.isArray(subject)) {
    need(isObject(subject) && isDidKey(subject.id));
    need(!('sub' in payload) || payload.sub === subject.id);
    need(!('audience' in subject) || isSetOf(subject.audience, 64, isDidWeb));
    need(Array.isArray(subject.capabilities));
    need(subject.capabilities.length >= 1 && subject.capabilities.length <= 16);
    for (const capability of subject.capabilities) readCapability(capability, hasBudgets, need, expect);
    expect(hasOnly(subject, 'id', 'audience', 'capabilities'));
  }
  needing('UNSUPPORTED_FEATURE')(isKnown);
  const { id, issuer } = payload;
  const { audience, capabilities } = subject;
  return {
    ...{ signed, signature, kid: header.kid, id, issuer, agent: subject.id, audience, capabilities },
    ...{ status, fromMs, untilMs, validUntil },
  };
}

function readCapability(capability, hasBudgets, need, expect) {
  need(isObject(capability) && isText(capability.action) && capability.action !== '');
  const { action, constraints, resources } = capability;
  need(isObject(constraints));
  if (action === 'commerce:purchase')
    need(isAmount(constraints.maxAmount) && isCurrency(constraints.currency));
  else if (action === 'api:call') need(isSetOf(constraints.methods, 16, isMethod));
  else expect(false);
  if (hasBudgets) need(isBudget(action, constraints));
  need(!('resources' in capability) || isListOfPatterns(resources));
  expect(hasOnly(capability, 'action', 'constraints', 'resources'));
}

function isBudget(action, constraints) {
  const isAbsentOr = (key, isRight) => !(key in constraints) || isRight(constraints[key]);
  if (action === 'api:call') return isAbsentOr('maxUses', isAmount);
  if (action !== 'commerce:purchase') return true;
  return (
    ['maxTotal', 'maxPerPeriod', 'maxUses'].every((key) => isAbsentOr(key, isAmount)) &&
    isAbsentOr('period', (period) => ['hour', 'day', 'week', 'month'].includes(period)) &&
    'period' in constraints === 'maxPerPeriod' in constraints
  );
}

function isListOfPatterns(value) {
  return Array.isArray(value) && value.length >= 1 && value.length <= 64 && value.every(isPattern);
}

/**
 * Milliseconds since the epoch of a time in whole seconds; NaN, for which every comparison is false, for anything else.
 */
function secondOf(text) {
  const ms = isText(text) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) || new Date(ms).toISOString() !== text.replace('Z', '.000Z') ? Number.NaN : ms;
}

/** Returns the Proof. Throws with PROOF_MALFORMED. */
export function readProof(token) {
  const need = needing('PROOF_MALFORMED');
  const { signed, signature, header, payload } = openToken(token, 8192, 'PROOF_MALFORMED');
  need(hasExactly(header, 'alg', 'typ', 'kid'));
  need(algorithms.includes(header.alg) && header.typ === 'svc-proof+jwt');
  need(hasExactly(payload, 'iss', 'aud', 'grant_id', 'htm', 'htu', 'action', 'iat', 'jti'));
  const { iss, aud, grant_id, htm, htu, action, iat, jti } = payload;
  need(isDidKey(iss) && header.kid === `${iss}#${iss.slice('did:key:'.length)}`);
  need(isDidWeb(aud) && isText(grant_id) && grantId.test(grant_id));
  need(isMethod(htm) && isText(htu) && normalizeHtu(htu) !== null);
  need(isAction(action) && Number.isSafeInteger(iat) && isJti(jti));
  return { signed, signature, agent: iss, aud, grantId: grant_id, htm, htu: normalizeHtu(htu), action, iat };
}

export function isJti(value) {
  return isText(value) && /^[A-Za-z0-9_-]{22,64}$/.test(value);
}

/** Whether a value from any parser is a well-formed Action. */
export function isAction(value) {
  if (!isObject(value) || !isStrict(value) || !isText(value.resource)) return false;
  const { type, resource, amount, currency, method } = value;
  if (resource.length < 1 || resource.length > 2048) return false;
  if (type === 'commerce:purchase')
    return (
      hasExactly(value, 'type', 'resource', 'amount', 'currency') && isAmount(amount) && isCurrency(currency)
    );
  if (type !== 'api:call' || !hasExactly(value, 'type', 'resource', 'method')) return false;
  return isMethod(method) && /^https?:\/\//.test(resource) && normalizeHtu(resource) !== null;
}

/** The parsed DID document if it is a document of this DID; otherwise null. */
export function readDocument(text, did) {
  try {
    const document = parseStrict(text, { anyNumbers: true });
    return isObject(document) && document.id === did ? document : null;
  } catch {
    return null;
  }
}

/**
 * The 32 bytes of the key that `kid` names in the issuer's document, if it may sign for the issuer now; otherwise null.
 */
export function assertionKey(document, kid, nowMs) {
  const listIn = (name) => (Array.isArray(document[name]) ? document[name] : []);
  const absolute = (id) => (isText(id) && id.startsWith('#') ? document.id + id : id);
  const embedded = listIn('assertionMethod').filter(isObject);
  const methods = [...listIn('verificationMethod'), ...embedded].filter(isObject);
  const named = methods.filter((method) => absolute(method.id) === kid);
  const [method] = named;
  const isListed =
    embedded.includes(method) || listIn('assertionMethod').some((entry) => absolute(entry) === kid);
  if (!kid.startsWith(`${document.id}#`) || named.length !== 1 || !isListed) return null;
  if (
    method.controller !== document.id ||
    Object.keys(method).some((name) => /^(private|secret)Key/.test(name))
  )
    return null;
  const hasEnded = (name) => name in method && !(nowMs < instantOf(method[name]));
  return hasEnded('revoked') || hasEnded('expires') ? null : keyIn(method);
}

function keyIn({ type, publicKeyMultibase, publicKeyBase58, publicKeyJwk: jwk }) {
  if (type === 'Multikey' || type === 'Ed25519VerificationKey2020')
    return isText(publicKeyMultibase) ? bytesOfMultikey(publicKeyMultibase) : null;
  if (type === 'Ed25519VerificationKey2018')
    return isText(publicKeyBase58) ? bytesOfBase58(publicKeyBase58) : null;
  if (!['JsonWebKey', 'JsonWebKey2020'].includes(type) || !isObject(jwk)) return null;
  if (jwk.kty !== 'OKP' || jwk.crv !== 'Ed25519' || 'd' in jwk || !isText(jwk.x)) return null;
  if (('use' in jwk && jwk.use !== 'sig') || ('alg' in jwk && !algorithms.includes(jwk.alg))) return null;
  return bytesOfBase64url(jwk.x);
}

/** Milliseconds of a time with any offset; NaN for anything else. */
function instantOf(text) {
  const form = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(\.\d{1,9})?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/;
  const [, day, time, fraction = '.0', sign, hours, minutes] = (isText(text) && form.exec(text)) || [];
  const ms = secondOf(`${day}T${time}Z`) + Math.floor(Number(fraction) * 1000);
  return sign === undefined ? ms : ms - Number(`${sign}1`) * (hours * 60 + Number(minutes)) * 60_000;
}
