/**
 * Extracts the service's lines from a log that a shipper has stored. A line may be as written, or follow a prefix, or
 * be inside an object of the shipper. A long line may be in several parts.
 */
import { isJsonObject, type JsonObject, parseJsonOfAnyNumbers } from '@svc/protocol';

/** Names of the member with the line: in Docker's json-file, in `journalctl -o json`, and in other shippers. */
const WRAPPED_IN = ['log', 'MESSAGE', 'message', 'line'] as const;

/** A line of a Kubernetes runtime: time, stream, `P` for all parts but the last (`F`), text. */
const CRI_LINE = /^\S+ (stdout|stderr) ([FP]) (.*)$/s;

/** Most braces that are tried as the start of an object. No prefix has more. */
const MAX_BRACES = 64;

/** A longer line is not from the service, which writes at most 500 ids in a line. */
const MAX_CHARS = 1_048_576;

/** A text with one of these may be about a revocation, also where the end of the line, with its `msg`, is missing. */
const MARK = /"(?:revocation|grant_ids|ended|key_id|from_org)\\*"/;

/** `part`: the rest of the line follows. */
export type LogLine =
  | { readonly kind: 'line'; readonly json: JsonObject }
  | { readonly kind: 'part' | 'other' }
  /** A line that is or may be about a revocation, and cannot be read. */
  | { readonly kind: 'fault'; readonly why: string };

/** The text of one line of the log, and its stream. */
interface Held {
  readonly stream: string;
  readonly text: string;
  readonly isPart: boolean;
}

/** Lines of one file, in its order. */
export class LogLines {
  /** By stream: the parts so far of a line whose end follows. */
  readonly #begun = new Map<string, string>();

  read(raw: string): LogLine {
    const held = unwrap(raw);
    if (held === null)
      return {
        kind: 'fault',
        why: 'a message that journalctl left out for its length: repeat it with --all',
      };
    const text = `${this.#begun.get(held.stream) ?? ''}${held.text}`;
    this.#begun.delete(held.stream);
    const found = findLine(text);
    // A line without its end, for example because the process was killed, followed by the next line.
    if (found !== null && MARK.test(found.before)) return CUT_OFF;
    if (found !== null) return { kind: 'line', json: found.object };
    if (!held.isPart || text.length > MAX_CHARS) return without(`${text}\n${raw}`);
    this.#begun.set(held.stream, text);
    return { kind: 'part' };
  }

  /** The rest of lines whose end did not follow. */
  end(): LogLine {
    return without([...this.#begun.values()].join('\n'));
  }
}

const CUT_OFF: LogLine = {
  kind: 'fault',
  why: 'a revocation that is cut off, or of which a part is in another file',
};

const without = (text: string): LogLine => (MARK.test(text) ? CUT_OFF : { kind: 'other' });

/** The text inside a line of the log. Null: the shipper has left the text out. */
const unwrap = (raw: string): Held | null => {
  const [, stream, part, rest] = CRI_LINE.exec(raw) ?? [];
  if (stream !== undefined) return { stream, text: rest ?? '', isPart: part === 'P' };
  const object = findObject(raw, (one) => isLine(one) || WRAPPED_IN.some((name) => name in one))?.object;
  if (object === undefined || isLine(object)) return { stream: '', text: raw, isPart: false };
  if (object.MESSAGE === null) return null;
  const text = textOf(WRAPPED_IN.map((name) => object[name]).find((one) => one !== undefined));
  // Docker includes the newline in the last part of a line.
  const isPart = typeof object.log === 'string' && !object.log.endsWith('\n');
  return { stream: String(object.stream ?? ''), text, isPart };
};

/** journald gives text that it cannot show as an array of bytes. */
const textOf = (value: JsonObject[string] | undefined): string => {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? Buffer.from(value.map(Number)).toString('utf8') : JSON.stringify(value);
};

const isLine = ({ msg }: JsonObject): boolean => typeof msg === 'string';

/** Finds the service's object. It may be the text in `msg` of a shipper's object. */
const findLine = (text: string): Found | null => {
  const found = findObject(text, isLine);
  if (found === null) return null;
  const inner = findObject(String(found.object.msg), isLine);
  return inner === null ? found : { ...found, object: inner.object };
};

interface Found {
  readonly object: JsonObject;
  /** The text before the object. */
  readonly before: string;
}

/**
 * The first object that reaches from a brace to the end of the text. The text before it may have braces too. Numbers
 * may be fractions, as in lines about requests.
 */
const findObject = (text: string, isMeant: (object: JsonObject) => boolean): Found | null => {
  let start = text.indexOf('{');
  for (let tries = 0; start !== -1 && tries < MAX_BRACES; tries++) {
    const json = parseJsonOfAnyNumbers(text.slice(start).trim());
    if (json.ok && isJsonObject(json.value) && isMeant(json.value))
      return { object: json.value, before: text.slice(0, start) };
    start = text.indexOf('{', start + 1);
  }
  return null;
};
