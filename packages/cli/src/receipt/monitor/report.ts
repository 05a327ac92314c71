/** What `svc-receipt monitor` prints after each check. */
import type { Alarm, Doubt, Look, Seen } from '@svc/transparency/monitor';
import { line, type Paint, printable, printableJson } from '../../report.ts';

export type MonitorVerdict = 'well' | 'alarm' | 'undecided';

/** An alarm takes precedence over anything that could not be determined. */
export const verdictOfLook = ({ alarms, doubts }: Look): MonitorVerdict => {
  if (alarms.length > 0) return 'alarm';
  return doubts.length > 0 ? 'undecided' : 'well';
};

const HEADINGS = {
  well: ['WELL', 'green'],
  alarm: ['ALARM', 'red'],
  undecided: ['COULD NOT TELL', 'yellow'],
} as const;

export const describeLook = (look: Look, state: string, paint: Paint): string => {
  const [text, colour] = HEADINGS[verdictOfLook(look)];
  return [
    paint(text, colour),
    line('days', daysOf(look)),
    line('fetched again', String(look.fetchedAgain)),
    line('state', state),
    ...look.alarms.flatMap(describeAlarm),
    ...look.doubts.map(({ path, message }: Doubt) => `  ? ${printable(path)}: ${printable(message)}`),
    ...look.notes.map((note) => `  * ${printable(note)}`),
  ].join('\n');
};

const NONE_SEEN = {
  found: 'none is remembered yet',
  absent: 'none is closed yet',
  unknown: 'unknown',
} as const;

const daysOf = ({ seen, latest, newDays }: Look): string => {
  const { first, last } = edgesOf(seen);
  return first === null ? NONE_SEEN[latest] : `${first} to ${last}: ${seen.length}, ${newDays} of them new`;
};

const edgesOf = (seen: Seen) => ({
  first: seen[0]?.checkpoint.day ?? null,
  last: seen.at(-1)?.checkpoint.day ?? null,
});

const describeAlarm = ({ code, day, message, seen, now }: Alarm): string[] => [
  `  - ${code}${day === null ? '' : ` ${printable(day)}`}: ${printable(message)}`,
  `      before: ${printable(seen ?? 'nothing')}`,
  `      now:    ${printable(now ?? 'nothing')}`,
];

/** One JSON object on one line. */
export const lookAsJson = (look: Look, state: string): string => {
  const { alarms, doubts, notes, seen, newDays, fetchedAgain } = look;
  return printableJson({
    verdict: verdictOfLook(look),
    ...{ days: { ...edgesOf(seen), count: seen.length, new: newDays, fetched_again: fetchedAgain } },
    ...{ alarms, doubts, notes, state },
  });
};
