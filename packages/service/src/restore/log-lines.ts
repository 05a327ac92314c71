/**
 * Lines of the service as a log has them that comes back from wherever it was shipped: as they were written, behind what a
 * shipper puts before them, or inside its own objects; long ones in several parts.
 */
import { isJsonObject, type JsonObject, parseJsonOfAnyNumbers } from '@svc/protocol';

/** Docker's json-file; `journalctl -o json`; what others call it. */
const WRAPPED_IN = ['log', 'MESSAGE', 'message', 'line'] as const;

/** As the runtimes of Kubernetes write it: time, stream, `P` for all parts but the last, text. */
const CRI_LINE = /^\S+ (stdout|stderr) ([FP]) (.*)$/s;

/** No prefix has more braces. */
const MAX_BRACES = 64;

/** A longer one is none of the service, which writes 500 ids in a line at most. */
const MAX_CHARS = 1_048_576;

/** Whatever has one of these may be about a revocation, whose name stands at the end of its line. */
const MARK = /"(?:revocation|grant_ids|ended|key_id|from_org)\\*"/;

/** `part`: more of it is to come. */
export type LogLine =
  | { readonly kind: 'line'; readonly json: JsonObject }
  | { readonly kind: 'part' | 'other' }
  /** About a revocation, or perhaps, and not to be read. */
  | { readonly kind: 'fault'; readonly why: string };

/** What a line of the log holds, and of which stream. */
interface Held {
  readonly stream: string;
  readonly text: string;
  readonly isPart: boolean;
}

/** Lines of one file, in its order. */
export class LogLines {
  /** By stream: the parts of a line whose end is to come. */
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
    // A line whose end never came, as where the process was killed, with the next one behind it.
    if (found !== null && MARK.test(found.before)) return CUT_OFF;
    if (found !== null) return { kind: 'line', json: found.object };
    if (!held.isPart || text.length > MAX_CHARS) return without(`${text}\n${raw}`);
    this.#begun.set(held.stream, text);
    return { kind: 'part' };
  }

  /** What is left of lines whose end did not come. */
  end(): LogLine {
    return without([...this.#begun.values()].join('\n'));
  }
}

const CUT_OFF: LogLine = {
  kind: 'fault',
  why: 'a revocation that is cut off, or of which a part is in another file',
};

const without = (text: string): LogLine => (MARK.test(text) ? CUT_OFF : { kind: 'other' });

/** Null: the text was left out. */
const unwrap = (raw: string): Held | null => {
  const [, stream, part, rest] = CRI_LINE.exec(raw) ?? [];
  if (stream !== undefined) return { stream, text: rest ?? '', isPart: part === 'P' };
  const object = findObject(raw, (one) => isLine(one) || WRAPPED_IN.some((name) => name in one))?.object;
  if (object === undefined || isLine(object)) return { stream: '', text: raw, isPart: false };
  if (object.MESSAGE === null) return null;
  const text = textOf(WRAPPED_IN.map((name) => object[name]).find((one) => one !== undefined));
  // Docker writes the end of a line with it.
  const isPart = typeof object.log === 'string' && !object.log.endsWith('\n');
  return { stream: String(object.stream ?? ''), text, isPart };
};

/** journald gives what it cannot show as bytes. */
const textOf = (value: JsonObject[string] | undefined): string => {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? Buffer.from(value.map(Number)).toString('utf8') : JSON.stringify(value);
};

const isLine = ({ msg }: JsonObject): boolean => typeof msg === 'string';

/** A shipper may call its own text `msg` too. */
const findLine = (text: string): Found | null => {
  const found = findObject(text, isLine);
  if (found === null) return null;
  const inner = findObject(String(found.object.msg), isLine);
  return inner === null ? found : { ...found, object: inner.object };
};

interface Found {
  readonly object: JsonObject;
  /** What stands before it. */
  readonly before: string;
}

/** The first that reaches from a brace to the end: what stands before it may have braces too, and requests have fractions. */
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
