// Strict JSON and the canonical form (docs/protocol.md §1; RFC 8259, RFC 8785). Objects have no prototype, so that
// `__proto__` and `constructor` are names like any other.
import { createHash } from 'node:crypto';

const maxDepth = 32;
const token =
  /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\]|\\.)*")|(-?(?:0|[1-9][0-9]*))(?![0-9.eE])|(true|false|null))/sy;
const anyNumber = /[ \t\n\r]*-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![0-9.eE])/y;
const literals = { true: true, false: false, null: null };

/**
 * The value of a strict JSON text; with `anyNumbers`, numbers that strict JSON refuses become null. Throws if the text
 * is not strict JSON.
 */
export function parseStrict(text, { anyNumbers = false } = {}) {
  if (!text.isWellFormed()) throw new SyntaxError('half a surrogate pair');
  let at = 0;

  const next = () => {
    token.lastIndex = at;
    const match = token.exec(text);
    if (match === null && anyNumbers) {
      anyNumber.lastIndex = at;
      if (anyNumber.test(text)) {
        at = anyNumber.lastIndex;
        return { value: null };
      }
    }
    if (match === null) throw new SyntaxError(`no JSON at ${at}`);
    at = token.lastIndex;
    const [, mark, string, integer, literal] = match;
    if (mark !== undefined) return { mark };
    if (string !== undefined) return { string: textOf(string) };
    if (integer !== undefined && anyNumbers && !Number.isSafeInteger(Number(integer))) return { value: null };
    if (integer !== undefined) return { value: integerOf(integer) };
    return { value: literals[literal] };
  };

  const value = (found, depth) => {
    if (found.string !== undefined) return found.string;
    if (found.mark === undefined) return found.value;
    if (depth > maxDepth) throw new SyntaxError('too deep');
    if (found.mark === '[') return list(depth);
    if (found.mark === '{') return members(depth);
    throw new SyntaxError(`${found.mark} at ${at}`);
  };

  const list = (depth) => {
    const items = [];
    let found = next();
    if (found.mark === ']') return items;
    for (;;) {
      items.push(value(found, depth + 1));
      const { mark } = next();
      if (mark === ']') return items;
      if (mark !== ',') throw new SyntaxError(`, or ] expected before ${at}`);
      found = next();
    }
  };

  const members = (depth) => {
    const object = Object.create(null);
    let found = next();
    if (found.mark === '}') return object;
    for (;;) {
      const name = found.string;
      if (name === undefined) throw new SyntaxError(`a name expected before ${at}`);
      if (name in object) throw new SyntaxError(`${name} stands twice`);
      if (next().mark !== ':') throw new SyntaxError(`: expected before ${at}`);
      object[name] = value(next(), depth + 1);
      const { mark } = next();
      if (mark === '}') return object;
      if (mark !== ',') throw new SyntaxError(`, or } expected before ${at}`);
      found = next();
    }
  };

  const whole = value(next(), 1);
  if (/[^ \t\n\r]/.test(text.slice(at))) throw new SyntaxError('something follows the value');
  return whole;
}

/** Leaves a single literal to JSON.parse, which decodes its escapes. */
function textOf(literal) {
  const text = JSON.parse(literal);
  if (text.includes('\0') || !text.isWellFormed()) throw new SyntaxError('a character that is refused');
  return text;
}

function integerOf(digits) {
  const number = Number(digits);
  if (!Number.isSafeInteger(number)) throw new SyntaxError('too large an integer');
  return number === 0 ? 0 : number;
}

/** Whether a value from another parser contains nothing that strict JSON refuses. */
export function isStrict(value, depth = 1) {
  if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0');
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (value === null || typeof value === 'boolean') return true;
  if (depth > maxDepth) return false;
  return Object.keys(value).every((key) => isStrict(key) && isStrict(value[key], depth + 1));
}

/** RFC 8785. Throws for half of a surrogate pair, which has no UTF-8 form. */
export function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (value !== null && typeof value === 'object') {
    const names = Object.keys(value).sort();
    return `{${names.map((name) => `${canonical(name)}:${canonical(value[name])}`).join(',')}}`;
  }
  if (typeof value === 'string' && !value.isWellFormed()) throw new TypeError('half a surrogate pair');
  return JSON.stringify(value);
}

/** SHA-256 of the UTF-8 bytes, in the form of the protocol. */
export function sha256(text) {
  return `sha256:${createHash('sha256').update(text).digest('hex')}`;
}
