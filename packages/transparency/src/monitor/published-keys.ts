/**
 * Compares the service's published DID document with the pin: a service that shows other keys to other readers could
 * also show them other checkpoints. The published document never extends the pin.
 */
import { formatTimestamp, parseDidWeb, show } from '@svc/codec';
import { type KeyTime, narrowKeyTime } from '../key-time.ts';
import {
  DID_DOCUMENT_MAX_CHARS,
  type KeyPurpose,
  openServiceKeys,
  type ServiceKeyFailure,
} from '../service-keys.ts';
import type { Alarm, Doubt } from './finding.ts';
import type { MonitoredKey, MonitorPin } from './pin.ts';
import { type Source, SourceError } from './source.ts';

export interface KeyComparison {
  /** Whether the service's document was requested. */
  readonly wasAsked: boolean;
  readonly alarms: readonly Alarm[];
  readonly doubts: readonly Doubt[];
  readonly notes: readonly string[];
}

interface Options {
  readonly source: Source;
  readonly origin: string;
  readonly pin: MonitorPin;
  /** Null: not known yet. */
  readonly serviceDid: string | null;
  readonly stop: AbortSignal;
}

const PATH = '/.well-known/did.json';

/** Makes no request if the checkpoints are read from another host than the DID's, such as a status host. */
export const comparePublishedKeys = async (options: Options): Promise<KeyComparison> => {
  const { source, pin, serviceDid, origin, stop } = options;
  if (serviceDid === null || !isOwnHost(serviceDid, origin) || stop.aborted) return NOTHING;
  try {
    const { status, text } = await source.fetchText(PATH, DID_DOCUMENT_MAX_CHARS);
    if (status !== 200) return doubt(`it answered ${status}`);
    const failures: ServiceKeyFailure[] = [];
    const published = openServiceKeys(text, failures, serviceDid);
    if (published === null || failures.length > 0)
      return doubt(failures[0]?.message ?? `it answered ${show(text)}`);
    return compare(pin, published.list());
  } catch (error) {
    if (error instanceof SourceError) return doubt(error.message);
    throw error;
  }
};

const NOTHING: KeyComparison = { wasAsked: false, alarms: [], doubts: [], notes: [] };

const doubt = (message: string): KeyComparison => ({
  ...NOTHING,
  wasAsked: true,
  doubts: [{ path: PATH, message }],
});

const isOwnHost = (serviceDid: string, origin: string): boolean => {
  const did = parseDidWeb(serviceDid);
  if (did === null || did.path.length > 0) return false;
  return new URL(origin).host === (did.port === null ? did.host : `${did.host}:${did.port}`);
};

interface PublishedKey {
  readonly kid: string;
  readonly multikey: string;
  readonly time: KeyTime | null;
}

const isOf = (purpose: KeyPurpose, { kid }: PublishedKey): boolean => kid.includes(`#${purpose}-`);

/** The published key that corresponds to a pinned one; undefined if there is none. */
const findPublished = (
  { kid, multikey, purpose }: MonitoredKey,
  published: readonly PublishedKey[],
): PublishedKey | undefined => {
  if (kid !== null) return published.find((key) => key.kid === kid);
  return published.find((key) => key.multikey === multikey && (purpose === undefined || isOf(purpose, key)));
};

const compare = ({ keys }: MonitorPin, published: readonly PublishedKey[]): KeyComparison => {
  const alarms = keys.flatMap((pinned): Alarm[] => {
    const { kid, multikey, purpose } = pinned;
    const now = findPublished(pinned, published);
    if (now?.multikey === multikey) return [];
    const name = kid ?? (purpose === undefined ? multikey : `${multikey} as a ${purpose} key`);
    const what = now === undefined ? 'does not publish' : 'publishes another key as';
    const message = `the service ${what} the pinned key ${name}`;
    return [
      {
        code: 'changed-key',
        day: null,
        message,
        seen: multikey,
        now: now?.multikey ?? null,
        checkpoints: [],
      },
    ];
  });
  const isPinned = (key: PublishedKey) =>
    keys.some(
      ({ kid, multikey, purpose = 'status' }) =>
        (kid ?? key.kid) === key.kid && multikey === key.multikey && isOf(purpose, key),
    );
  const notes = published
    .filter((key) => isOf('status', key) && !isPinned(key) && !keys.some(({ kid }) => kid === key.kid))
    .map(({ kid, multikey }) => `${kid} (${multikey}) is published and not pinned: pin it before it signs`);
  const narrowings = keys.flatMap((pinned) => findNarrowing(pinned, published));
  return {
    wasAsked: true,
    alarms,
    doubts: narrowings.flatMap(({ doubt }) => (doubt === undefined ? [] : [{ path: PATH, message: doubt }])),
    notes: [...notes, ...narrowings.flatMap(({ note }) => note ?? [])],
  };
};

const UNBOUNDED: KeyTime = { fromMs: null, untilMs: null, isCompromised: false };

/** An end or a compromise of a pinned status key that is published but not pinned. The pin is what the monitor uses. */
const findNarrowing = (
  pinned: MonitoredKey,
  published: readonly PublishedKey[],
): readonly { readonly doubt?: string; readonly note?: string }[] => {
  const { kid, multikey } = pinned;
  const now = findPublished(pinned, published);
  if (now?.multikey !== multikey || now.time === null || !isOf('status', now)) return [];
  const time = pinned.time ?? UNBOUNDED;
  const { untilMs, isCompromised } = narrowKeyTime(time, now.time);
  const isEndPinned = untilMs === time.untilMs;
  // For a key that is pinned alone, a pinned end is the only way to say that it is compromised.
  const isLeakPinned = time.isCompromised || (kid === null && isEndPinned && untilMs !== null);
  const name = kid ?? multikey;
  if (isCompromised && !isLeakPinned)
    return [{ doubt: `${name} is published as compromised, and not pinned so: pin the new document` }];
  return untilMs === null || isEndPinned
    ? []
    : [{ note: `${name} is published as in force until ${formatTimestamp(untilMs)}: pin it with that end` }];
};
