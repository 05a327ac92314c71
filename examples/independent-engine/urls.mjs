// normalizeHtu (docs/protocol.md §4) and resource patterns (§6).
const maxLength = 2048;

/** The normal form of an http or https URL; null if it is refused. */
export function normalizeHtu(url) {
  if (url.length > maxLength || !/^[!-[\]-~]*$/.test(url) || /%(?![0-9a-f]{2})/i.test(url)) return null;
  const parts = /^(https?):\/\/([^/?#]*)([^?#]*)/i.exec(url);
  if (parts === null) return null;
  const scheme = parts[1].toLowerCase();
  const [, host, port] = /^(\[[^\]]*\]|[^:[\]]*)(?::([0-9]*))?$/.exec(parts[2]) ?? [];
  if (host === undefined || /^0[0-9]/.test(port) || Number(port ?? 0) > 65535) return null;
  const name = host.startsWith('[') ? address(host) : registeredName(host);
  if (name === null) return null;
  const isOwnPort = !port || port === (scheme === 'http' ? '80' : '443');
  const normal = `${scheme}://${name}${isOwnPort ? '' : `:${port}`}${withoutDots(unescaped(parts[3]))}`;
  return normal.length > maxLength ? null : normal;
}

/** Decodes escapes of unreserved characters once, and writes the others in upper case. */
function unescaped(text) {
  return text.replace(/%(..)/g, (triplet, hex) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : triplet.toUpperCase();
  });
}

function registeredName(host) {
  if (!/^(?:[A-Za-z0-9._~!$&'()*+,;=-]|%..)+$/.test(host)) return null;
  const name = unescaped(host).replace(/%..|[A-Z]/g, (found) =>
    found.length > 1 ? found : found.toLowerCase(),
  );
  return /%[0-7]/.test(name) ? null : name;
}

function address(bracketed) {
  const text = bracketed.slice(1, -1).toLowerCase();
  const octet = '(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])';
  const plain = text.replace(new RegExp(`(^|:)${octet}(?:\\.${octet}){3}$`), '$10:0');
  const halves = plain.split('::');
  const groups = halves.flatMap((half) => (half === '' ? [] : half.split(':')));
  const isComplete = halves.length === 1 ? groups.length === 8 : halves.length === 2 && groups.length < 8;
  return isComplete && groups.every((group) => /^[0-9a-f]{1,4}$/.test(group)) ? `[${text}]` : null;
}

/** RFC 3986 §5.2.4 for a path that is empty or starts with a slash. */
function withoutDots(path) {
  const kept = [];
  const segments = path.split('/').slice(1);
  for (const [i, segment] of segments.entries()) {
    const isDot = segment === '.' || segment === '..';
    if (segment === '..') kept.pop();
    if (!isDot) kept.push(segment);
    else if (i === segments.length - 1) kept.push('');
  }
  return `/${kept.join('/')}`;
}

/** Whether a text has the form of a pattern. */
export function isPattern(text) {
  return (
    typeof text === 'string' &&
    text.length >= 1 &&
    text.length <= 512 &&
    (text.match(/\*+/g) ?? []).length <= 8
  );
}

/** Whether the pattern of a Capability matches this resource; for an api:call the resource is a URL. */
export function reaches(pattern, resource, isUrl) {
  if (pattern === '*') return true;
  if (!isUrl) return matches(pattern, resource);
  const wanted = /^(https?:\/\/)([^/]*)(.*)$/s.exec(pattern);
  const given = /^(https?:\/\/)([^/]*)(.*)$/s.exec(normalizeHtu(resource));
  if (wanted === null || wanted[1] !== given[1]) return false;
  const [, , host, path] = given;
  return matches(wanted[2], host, escapesIn(host)) && matches(wanted[3] || '/', path, treacherousIn(path));
}

function escapesIn(host) {
  return new Set([...host.matchAll(/%../g)].flatMap(({ index }) => [index, index + 1, index + 2]));
}

/**
 * The parts of a path that no wildcard matches: those that are a separator, a control character or a dot segment once
 * decoded.
 */
function treacherousIn(path) {
  let cells = path.split('').map((character, place) => ({ character, places: [place] }));
  for (let before = Number.NaN; before !== cells.length; ) {
    before = cells.length;
    cells = joinedOctets(decodedOnce(cells));
  }
  const closed = new Set();
  const close = ({ places }) => {
    for (const place of places) closed.add(place);
  };
  let segment = [];
  for (const cell of [...cells, { character: '/', places: [] }]) {
    if (cell.places.length > 1 && /[/\\\p{Cc}]/u.test(cell.character) && cell.character < '\x80') close(cell);
    if (!/[/\\]/.test(cell.character)) segment.push(cell);
    else {
      if (/^\.{1,2}([;?#]|$)/.test(segment.map(({ character }) => character).join('')))
        for (const one of segment) close(one);
      segment = [];
    }
  }
  return closed;
}

/** Decodes escapes of octets and of %u, at every position. */
function decodedOnce(cells) {
  const decoded = [];
  for (let i = 0; i < cells.length; i++) {
    const six = cells.slice(i, i + 6);
    const text = six.map(({ character }) => character).join('');
    const [, octet, unit] = /^%(?:([0-9A-Fa-f]{2})|[uU]([0-9A-Fa-f]{4}))/.exec(text) ?? [];
    const length = octet ? 3 : unit ? 6 : 1;
    const places = six.slice(0, length).flatMap((cell) => cell.places);
    if (octet) decoded.push(octetCell(Number.parseInt(octet, 16), places));
    else if (unit) decoded.push({ character: plain(Number.parseInt(unit, 16)), places });
    else decoded.push(cells[i]);
    i += length - 1;
  }
  return decoded;
}

const octetCell = (octet, places) =>
  octet < 0x80 ? { character: String.fromCharCode(octet), places } : { character: '\u{fffd}', octet, places };

/** Decodes UTF-8 of one to six octets, including overlong sequences. */
function joinedOctets(cells) {
  const joined = [];
  for (let i = 0; i < cells.length; i++) {
    const bits = cells[i].octet?.toString(2) ?? '';
    const length = /^(1{2,6})0/.exec(bits.padEnd(9, '0'))?.[1].length ?? 1;
    const rest = cells.slice(i + 1, i + length);
    const isWhole = rest.length === length - 1 && rest.every(({ octet }) => octet >= 0x80 && octet < 0xc0);
    if (length === 1 || !isWhole) joined.push(cells[i]);
    else {
      const payload = [bits.slice(length + 1), ...rest.map(({ octet }) => octet.toString(2).slice(2))].join(
        '',
      );
      const places = cells.slice(i, i + length).flatMap((cell) => cell.places);
      joined.push({ character: plain(Number.parseInt(payload, 2)), places });
      i += length - 1;
    }
  }
  return joined;
}

const lookAlikes = {
  '/': '\u2044\u2215\u29f8\uff0f',
  '\\': '\u2216\u29f5\ufe68\uff3c',
  '.': '\u2024\u2025\ufe52\uff0e',
  ';': '\ufe54\uff1b',
  '?': '\ufe56\uff1f',
  '#': '\ufe5f\uff03',
  '%': '\ufe6a\uff05',
};

function plain(code) {
  const character = code > 0x10ffff ? '\u{fffd}' : String.fromCodePoint(code);
  return Object.keys(lookAlikes).find((ascii) => lookAlikes[ascii].includes(character)) ?? character;
}

/** Goes through the text once, with the set of places in the pattern that can come next. */
function matches(pattern, text, closed = new Set()) {
  const steps = pattern.match(/\*+|[^*]/gs) ?? [];
  let places = reachable(steps, new Set([0]));
  for (const [at, character] of text.split('').entries()) {
    const next = new Set();
    for (const place of places) {
      const step = steps[place];
      if (step === undefined) continue;
      if (step[0] !== '*') step === character && next.add(place + 1);
      else if (!closed.has(at) && (step.length > 1 || character !== '/')) next.add(place);
    }
    places = reachable(steps, next);
  }
  return places.has(steps.length);
}

/** Adds the places after runs of asterisks, because a run may match nothing. */
function reachable(steps, places) {
  for (const place of places) if (steps[place]?.startsWith('*')) places.add(place + 1);
  return places;
}
