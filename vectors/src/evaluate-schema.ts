/**
 * The parts of schema/evaluate.schema.json that name checks, profiles and reasons, as the engine has them. The rest of
 * the file is written by hand.
 */
import {
  CHECK_IDS,
  type CheckId,
  isProtocolCheck,
  isTrustCheck,
  PROFILE_IDS,
  PROFILES,
  PROTOCOL_REASONS,
  TRUST_REASONS,
} from '@svc/protocol';

const byNumber = (a: CheckId, b: CheckId): number => Number(a.slice(1)) - Number(b.slice(1));
const PROTOCOL: readonly CheckId[] = CHECK_IDS.filter(isProtocolCheck).sort(byNumber);
const TRUST: readonly CheckId[] = CHECK_IDS.filter(isTrustCheck).sort(byNumber);

const quoted = (texts: readonly string[]): readonly string[] => texts.map((text) => `"${text}"`);
const list = (texts: readonly string[]): string => `[${quoted(texts).join(', ')}]`;
const lines = (literals: readonly string[]): string => `[\n        ${literals.join(',\n        ')}\n      ]`;

/** Number of these checks that every profile runs. */
const countInEach = (ids: readonly CheckId[]): number =>
  ids.filter((id) => Object.values(PROFILES).every(({ checkIds }) => checkIds.includes(id))).length;

/** A pattern of the numbers from 1 to `last`, which has two digits. */
const numbersTo = (last: number): string => {
  const [tens, ones] = [Math.floor(last / 10), last % 10];
  const fullTens = Array.from({ length: tens - 1 }, (_, i) => `${i + 1}[0-9]`);
  return ['[1-9]', ...fullTens, `${tens}${ones === 0 ? '0' : `[0-${ones}]`}`].join('|');
};

const PARTS: readonly (readonly [place: RegExp, text: string])[] = [
  [/(?<="checkId": \{ "enum": )\[[^\]]*\]/g, list([...PROTOCOL, ...TRUST])],
  [/(?<="profile": \{ "enum": )\[[^\]]*\]/g, list(PROFILE_IDS)],
  [
    /(?<="reason": \{\s+"enum": )\[[^\]]*\]/g,
    lines(['null', ...quoted([...PROTOCOL_REASONS, ...TRUST_REASONS])]),
  ],
  [/(?<="minProperties": )\d+(?=,\s+"propertyNames": \{ "pattern": "\^P)/g, String(countInEach(PROTOCOL))],
  [/(?<="propertyNames": \{ "pattern": ")\^P[^"]*/g, `^P(${numbersTo(PROTOCOL.length)})$`],
  [/(?<="minProperties": )\d+(?=,\s+"propertyNames": \{ "enum": \["T)/g, String(countInEach(TRUST))],
  [/(?<="propertyNames": \{ "enum": )\["T[^\]]*\]/g, list(TRUST)],
];

/** The schema with these parts written anew. Throws if one of them is not there exactly once. */
export const fillEvaluateSchema = (schema: string): string =>
  PARTS.reduce((text, [place, part]) => {
    const found = text.match(place)?.length ?? 0;
    if (found !== 1) throw new Error(`schema/evaluate.schema.json: ${place} is there ${found} times`);
    return text.replace(place, () => part);
  }, schema);
