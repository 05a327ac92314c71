/** Small changes to tokens and JSON, at every level at which a forger or a faulty client can make them. */
import { decodeBase64url, encodeBase64url, encodeUtf8, type JsonValue } from '@svc/protocol';
import { anyJson, nested, ODD_NUMBER_TEXTS, ODD_STRINGS } from './odd-values.ts';
import type { Random } from './random.ts';

/**
 * The last ones are not ASCII, but their low byte, their other case or their digit value is: a decoder with a table of
 * bytes, a comparison without case and a parser of numbers may each take them for ASCII.
 */
const TOKEN_CHARACTERS = 'AZaz09-_.=+/ \n\u0000\u00e9\ud800%{"\u0131\u0141\u017f\u212a\uff11\u0661';

export const mutateCharacters = (token: string, random: Random): string => {
  const at = random.below(token.length + 1);
  const character = random.pick([...TOKEN_CHARACTERS]);
  switch (random.below(6)) {
    case 0:
      return token.slice(0, at) + character + token.slice(at);
    case 1:
      return token.slice(0, at) + token.slice(at + 1 + random.below(4));
    case 2:
      return token.slice(0, at) + character + token.slice(at + 1);
    case 3:
      return token.slice(0, at);
    case 4:
      return token.slice(at);
    default:
      return token.slice(0, at) + token.slice(Math.max(0, at - random.below(50)));
  }
};

/** Exchanges, repeats, drops or empties parts of the token, or takes them from another token. */
export const mutateParts = (token: string, other: string, random: Random): string => {
  const parts = token.split('.');
  const otherParts = other.split('.');
  const at = random.below(3);
  const odd = [
    otherParts[at] ?? '',
    '',
    'e30',
    'W10',
    'bnVsbA',
    `${parts[at]}=`,
    `${parts[at]}A`,
    `${parts[at]}AA`,
  ];
  switch (random.below(5)) {
    case 0:
      return parts.with(at, random.pick(odd)).join('.');
    case 1:
      return parts.reverse().join('.');
    case 2:
      return [...parts, random.pick(odd)].join('.');
    case 3:
      return parts.filter((_, i) => i !== at).join('.');
    default:
      return [parts[0], otherParts[1], random.pick([parts[2], otherParts[2]])].join('.');
  }
};

/** Changes bytes of one decoded part; the encoding stays canonical. */
export const mutateBytes = (token: string, random: Random): string => {
  const parts = token.split('.');
  const at = random.below(3);
  const bytes = [...(decodeBase64url(parts[at] ?? '') ?? [])];
  for (let changes = 1 + random.below(3); changes > 0; changes--) {
    const where = random.below(bytes.length + 1);
    if (random.below(2) === 0) bytes[where] = (bytes[where] ?? 0) ^ (1 << random.below(8));
    else bytes.splice(where, random.below(3), ...[random.below(256)].slice(random.below(2)));
  }
  return parts.with(at, encodeBase64url(Uint8Array.from(bytes))).join('.');
};

type Container = JsonValue[] | { [member: string]: JsonValue };

/** Every container in `value`, the value itself included. */
const containersOf = (value: JsonValue): Container[] => {
  if (typeof value !== 'object' || value === null) return [];
  const container = value as Container;
  return [container, ...Object.values(container).flatMap((item) => containersOf(item))];
};

const define = (container: Container, name: string, value: JsonValue): void => {
  Object.defineProperty(container, name, { value, enumerable: true, configurable: true, writable: true });
};

/** Replaces, removes, adds or exchanges members and items, or changes a text in them, anywhere in a copy of `value`. */
export const mutateJson = (value: JsonValue, random: Random): JsonValue => {
  const copy = JSON.parse(JSON.stringify(value)) as JsonValue;
  const containers = containersOf(copy);
  for (let changes = 1 + random.below(2); changes > 0; changes--) {
    const container = random.pick(containers);
    const name = random.pick([...Object.keys(container), 'x']);
    const present = (container as Record<string, JsonValue>)[name];
    switch (random.below(7)) {
      case 0:
        delete (container as Record<string, JsonValue>)[name];
        break;
      case 1:
        define(
          container,
          random.pick(['__proto__', 'constructor', 'exp', 'crit', 'x', '0']),
          anyJson(random),
        );
        break;
      case 2:
        define(container, name, nested(random.pick([27, 33, 64, 300]), random));
        break;
      case 3:
        define(container, name, random.pick(containers) === container ? null : random.pick(ODD_STRINGS));
        break;
      case 4:
        define(
          container,
          name,
          typeof present === 'string' ? mutateCharacters(present, random) : anyJson(random),
        );
        break;
      default:
        define(container, name, anyJson(random));
    }
  }
  return copy;
};

/**
 * Changes a JSON text in ways in which a value cannot be changed: duplicates, number forms, raw surrogates, nesting,
 * white space.
 */
export const mutateJsonText = (json: string, random: Random): string => {
  const members = [...json.matchAll(/"(\w+)":/g)];
  const member = random.pick(members);
  const at = member.index;
  switch (random.below(8)) {
    case 0:
      return `${json.slice(0, at)}"${member[1]}":${JSON.stringify(anyJson(random))},${json.slice(at)}`;
    case 1:
      return json.replace(/:-?\d+/g, () => `:${random.pick(ODD_NUMBER_TEXTS)}`);
    case 2:
      return `${json.slice(0, at)}"x":${random.pick(ODD_NUMBER_TEXTS)},${json.slice(at)}`;
    case 3:
      return json.replace(random.pick(['order', 'shop', 'USD', 'POST']), '$&\\ud800\\u0000');
    case 4: {
      const depth = random.pick([28, 33, 1000, 3000]);
      return `${json.slice(0, at)}"x":${'['.repeat(depth)}${']'.repeat(random.pick([depth, depth - 1]))},${json.slice(at)}`;
    }
    case 5:
      return `${random.pick(['\ufeff', ' ', '\u00a0', '\n', '//'])}${json}`;
    case 6:
      return json + random.pick([' ', '\n', ',', '}', '\u0000', '{}']);
    default:
      return `${json.slice(0, at)}"\\u00${(member[1] ?? 'x').charCodeAt(0).toString(16)}${json.slice(at + 2)}`;
  }
};

/** The token with the JSON text of its header (0) or payload (1) edited and its signature unchanged. */
export const editPart = (token: string, part: 0 | 1, edit: (json: string) => string): string => {
  const parts = token.split('.');
  const json = new TextDecoder().decode(decodeBase64url(parts[part] ?? '') ?? new Uint8Array());
  return parts.with(part, encodeBase64url(encodeUtf8(edit(json)))).join('.');
};
