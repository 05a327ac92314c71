/** Faults that an implementation may have, each as one small change of one right answer. */
import { CHECK_IDS, CHECKS, isJsonObject, type JsonObject, type JsonValue } from '@svc/protocol';
import type { ConformanceCase, VectorSet } from '../src/vector-set.ts';
import type { CaseOp } from '../src/wire.ts';

export interface Fault {
  readonly name: string;
  readonly op: CaseOp;
  readonly id: string;
  /** The place at which the run must find the first difference. */
  readonly pointer: string;
  readonly change: (right: JsonValue) => JsonValue;
}

/** The value at a pointer without escapes; undefined if there is none. */
const valueAt = (value: JsonValue, pointer: string): JsonValue | undefined =>
  pointer
    .split('/')
    .slice(1)
    .reduce<JsonValue | undefined>(
      (at, name) =>
        typeof at === 'object' && at !== null && Object.hasOwn(at, name)
          ? (at as JsonObject)[name]
          : undefined,
      value,
    );

/** A copy with another value at the pointer; undefined removes the member. */
const withValue = (value: JsonValue, pointer: string, to: JsonValue | undefined): JsonValue => {
  if (pointer === '') return to ?? null;
  const [, name = '', ...rest] = pointer.split('/');
  if (Array.isArray(value))
    return value.map((item, i) => (String(i) === name ? withValue(item, ['', ...rest].join('/'), to) : item));
  const members = isJsonObject(value) ? value : {};
  const { [name]: old, ...others } = members;
  if (rest.length === 0 && to === undefined) return others;
  return { ...members, [name]: withValue(old ?? null, ['', ...rest].join('/'), to) };
};

type Matches = (right: JsonValue, one: ConformanceCase) => boolean;
type NewValue = JsonValue | undefined | ((old: JsonValue | undefined) => JsonValue | undefined);

const has =
  (pointer: string, value: JsonValue): Matches =>
  (right) =>
    valueAt(right, pointer) === value;
const isPresent =
  (pointer: string): Matches =>
  (right) =>
    valueAt(right, pointer) !== undefined;
const isCase =
  (id: string): Matches =>
  (_, one) =>
    one.id === id;
const isAbout =
  (start: string): Matches =>
  (_, one) =>
    one.id.startsWith(start);

const flipLast = (old: JsonValue | undefined): string => {
  const text = String(old);
  return text.slice(0, -1) + (text.endsWith('0') ? '1' : '0');
};
const laterByAMillisecond = (old: JsonValue | undefined): string =>
  new Date(Date.parse(String(old)) + 1).toISOString();

/** Uses each case once, so that all faults can be seeded together. */
export const seedFaults = (vectors: VectorSet): readonly Fault[] => {
  const free = new Set(vectors.cases);
  const faults: Fault[] = [];
  const seed = (name: string, op: CaseOp, matches: Matches, pointer: string, to: NewValue): void => {
    const found = [...free].find((one) => one.op === op && matches(rightOf(one), one));
    if (found === undefined) throw new Error(`no case left for: ${name}`);
    free.delete(found);
    const change = (right: JsonValue): JsonValue =>
      withValue(right, pointer, typeof to === 'function' ? to(valueAt(right, pointer)) : to);
    faults.push({ name, op, id: found.id, pointer, change });
  };
  const inBody = (name: string, matches: Matches, pointer: string, to: NewValue): void =>
    seed(name, 'evaluate', matches, `/body${pointer}`, to);
  // Seeds that need a particular case come first.
  seedTamperedTokens(inBody);
  seedNamedFaults(inBody);
  seedBodyFaults(inBody);
  seedCheckFaults(inBody);
  seed('a Receipt signed by another key', 'evaluate', isPresent('/receipt'), '/receipt', (old) => {
    const [header, payload, signature = ''] = String(old).split('.');
    return [header, payload, signature.split('').reverse().join('')].join('.');
  });
  seed('no Receipt, though promised', 'evaluate', isPresent('/receipt'), '/receipt', undefined);
  seed('a result beside the body', 'evaluate', isPresent('/body'), '/more', true);
  seedCodecFaults(seed);
  return faults;
};

const rightOf = ({ expected, receipt }: ConformanceCase): JsonValue =>
  receipt === null ? expected : { ...(expected as JsonObject), receipt };

type SeedBody = (name: string, matches: Matches, pointer: string, to: NewValue) => void;

const outcomeAt = (id: string): string => `/${id.startsWith('T') ? 'trust' : 'protocol'}/checks/${id}`;

/** For every check: passed where it fails, failed where it is skipped, skipped where it fails. */
const seedCheckFaults = (seed: SeedBody): void => {
  for (const id of CHECK_IDS) {
    const pointer = outcomeAt(id);
    seed(`${id} true where it is false`, has(`/body${pointer}`, false), pointer, true);
  }
  for (const { id, requires } of CHECKS) {
    const pointer = outcomeAt(id);
    if (requires.length === 0) continue;
    seed(`${id} false where it is skipped`, has(`/body${pointer}`, 'skipped'), pointer, false);
  }
  for (const id of ['P3', 'P9', 'P15', 'P20', 'T1', 'T5'] as const) {
    const pointer = outcomeAt(id);
    seed(`${id} skipped where it is true`, has(`/body${pointer}`, true), pointer, 'skipped');
  }
};

const seedNamedFaults = (seed: SeedBody): void => {
  seed('the reason of the second false check', isCase('everything-wrong'), '/reason', 'PROOF_MALFORMED');
  seed('a later survivor as authority', isAbout('survivors-first'), '/authority/constraints/maxAmount', 1);
  seed('methods in another order', isCase('allow-api-call'), '/authority/constraints/methods/0', 'POST');
};

const seedBodyFaults = (seed: SeedBody): void => {
  const isAllow = has('/body/decision', 'ALLOW');
  seed('malformed for unsupported', has('/body/reason', 'UNSUPPORTED_FEATURE'), '/reason', 'GRANT_MALFORMED');
  seed('false for unavailable', has('/body/reason', 'SERVICE_UNAVAILABLE'), '/reason', 'ISSUER_UNKNOWN');
  seed('a reason on ALLOW', isAllow, '/reason', 'GRANT_EXPIRED');
  seed('no reason on DENY', has('/body/decision', 'DENY'), '/reason', null);
  seed('authority on DENY', has('/body/authority', null), '/authority', { action: 'api:call' });
  seed('no authority on ALLOW', isAllow, '/authority', null);
  seed('resources left out', isPresent('/body/authority/resources'), '/authority/resources', undefined);
  for (const member of ['grant_hash', 'proof_hash', 'request_hash', 'protocol/profile_hash'] as const)
    seed(`another ${member}`, isPresent(`/body/${member}`), `/${member}`, flipLast);
  const evidence = ['trust_config_hash', 'issuer_resolution/did_document_hash', 'status/credential_hash'];
  for (const member of evidence)
    seed(`another ${member}`, isPresent(`/body/evidence/${member}`), `/evidence/${member}`, flipLast);
  const consumption = '/evidence/consumption';
  for (const member of ['key', 'snapshot_hash'] as const)
    seed(`another ${member}`, isPresent(`/body${consumption}`), `${consumption}/${member}`, flipLast);
  seed(
    'the version after',
    isPresent(`/body${consumption}`),
    `${consumption}/version`,
    (old) => Number(old) + 1,
  );
  seed('a budget not consumed', isPresent(`/body${consumption}`), consumption, undefined);
  for (const member of [
    'evaluated_at',
    'evidence/issuer_resolution/resolved_at',
    'evidence/status/checked_at',
  ])
    seed(`${member} a millisecond late`, isPresent(`/body/${member}`), `/${member}`, laterByAMillisecond);
  seed('expires_at with milliseconds', isPresent('/body/expires_at'), '/expires_at', laterByAMillisecond);
  for (const member of ['principal', 'agent', 'grant_id', 'expires_at', 'request_hash', 'authority'] as const)
    seed(`${member} left out`, isPresent(`/body/${member}`), `/${member}`, undefined);
  const isWithoutAgent: Matches = (right) => valueAt(right, '/body/agent') === undefined;
  seed('an agent before P9', isWithoutAgent, '/agent', 'did:key:z6Mk');
  seed(
    'a verified domain',
    has('/body/principal/verification', 'unverified'),
    '/principal/verification',
    'domain',
  );
  seed(
    'the status list consulted too early',
    has('/body/protocol/checks/P6', 'skipped'),
    '/evidence/status',
    {},
  );
  seed('protocol PASS', has('/body/protocol/result', 'FAIL'), '/protocol/result', 'PASS');
  seed('trust PASS', has('/body/trust/result', 'FAIL'), '/trust/result', 'PASS');
  seed('another profile', has('/body/protocol/profile', 'svc-base-v1'), '/protocol/profile', 'svc-base-v2');
  seed(
    'a number as text',
    has('/body/authority/constraints/maxAmount', 50_000),
    '/authority/constraints/maxAmount',
    '50000',
  );
  seed('one more member', isAllow, '/note', 'x');
};

/** A tampered or foreign token that is accepted: the first difference is the decision. */
const seedTamperedTokens = (seed: SeedBody): void => {
  const tampered = [
    ...['p03-payload-changed', 'p03-signature-malleated', 'p03-signature-one-bit', 'p03-another-key'],
    ...['p09-payload-changed', 'p09-weak-key-order-8', 'p09-another-key', 'substitution-receipt-as-grant'],
    ...['substitution-grant-as-proof', 'p08-stray-bits', 'p01-unsupported-alg-none', 'p02-weak-key-order-1'],
  ];
  for (const id of tampered) seed(`${id} accepted`, isCase(id), '/decision', 'ALLOW');
};

type Seed = (name: string, op: CaseOp, matches: Matches, pointer: string, to: NewValue) => void;

const seedCodecFaults = (seed: Seed): void => {
  const isText: Matches = (right) => typeof right === 'string';
  const isNull: Matches = (right) => right === null;
  seed('a URL with upper case', 'normalizeHtu', isText, '', (old) => String(old).toUpperCase());
  seed('a URL without its last character', 'normalizeHtu', isText, '', (old) => String(old).slice(0, -1));
  seed('a URL taken that is refused', 'normalizeHtu', isNull, '', 'https://shop.example/');
  seed('a URL refused that is taken', 'normalizeHtu', isText, '', null);
  seed('members not sorted', 'canonicalize', has('', '{"a":2,"b":1}'), '', '{"b":1,"a":2}');
  seed('a lone surrogate replaced', 'canonicalize', isNull, '', '"\ufffd"');
  seed('hex in upper case', 'sha256', isText, '', (old) => String(old).toUpperCase());
  seed('another hash', 'sha256', isText, '', flipLast);
  seed('a nonce taken that is none', 'isJti', has('', false), '', true);
  seed('a nonce refused', 'isJti', has('', true), '', false);
  seed('yes for true', 'isJti', has('', true), '', 'yes');
};
