/**
 * `svc-admin clock`: shows the clocks, and the effects of a clock that ran ahead. `clock repair` undoes these effects.
 */
import { TRUST_CONFIG } from '@svc/protocol';
import { type ClockState, readClockState, repairClock } from '@svc/store-pg';
import { type Command, databaseUrlFrom } from './command.ts';

interface Shown {
  readonly isJson: boolean;
}

/** Protocol §7. */
const AGREE_MS = TRUST_CONFIG.clockSkewSeconds * 1_000;
const SEALED_BEHIND_MS = 3_000;

const options = { json: { text: 'prints one JSON document instead of a report' } } as const;

export const clockCommand: Command = {
  name: 'clock',
  gist: 'Shows the clocks, and what a clock that ran ahead has sealed, closed or dated too early',
  options,
  notes: ['It writes nothing.'],
  run: (values, env) => showClock(databaseUrlFrom(env), { isJson: values.json === true }),
};

export const clockRepairCommand: Command = {
  name: 'clock repair',
  gist: 'Confirms that the time is correct now, and undoes what was sealed or closed too early',
  options,
  notes: [
    `Processes that wait for an operator go on. The command is refused if the clocks of the database and of this machine differ by more
than 5 s. Run it as the owner of the tables.`,
  ],
  run: (values, env) => repair(databaseUrlFrom(env), { isJson: values.json === true }),
};

/** Resolves with the exit code: 1 if something is wrong. */
const showClock = async (databaseUrl: string, { isJson }: Shown): Promise<number> => {
  const state = await readClockState(databaseUrl);
  const nowMs = Date.now();
  const faults = findFaults(state, nowMs);
  if (isJson) console.log(JSON.stringify({ ...state, operatorMs: nowMs, faults }, null, 2));
  else
    console.log(
      [...describe(state, nowMs), '', ...(faults.length === 0 ? ['No faults.'] : faults)].join('\n'),
    );
  return faults.length === 0 ? 0 : 1;
};

/** Rejects if the clocks of the database and of this machine differ by more than 5 s. */
const repair = async (databaseUrl: string, { isJson }: Shown): Promise<number> => {
  const done = await repairClock(databaseUrl, Date.now());
  if (isJson) console.log(JSON.stringify(done, null, 2));
  else
    console.log(
      [
        `The time is confirmed as ${instant(done.repairedAtMs)}; the high-water mark moved ${done.markMovedMs < 0 ? 'back' : 'forward'} by ${seconds(done.markMovedMs)}.`,
        done.reopenedDays === 0
          ? 'No day was published early.'
          : `${done.reopenedDays} days were opened again.`,
        done.unsealed
          ? 'The seal was moved back; the worker adds up the sums of this month again.'
          : 'The sums needed no correction.',
        done.decisionsFromMs === null
          ? 'Decisions go on.'
          : `Decisions begin at ${instant(done.decisionsFromMs)}: until then a Proof may be valid although its use is no longer recorded.`,
      ].join('\n'),
    );
  return 0;
};

const findFaults = (
  { databaseMs, markMs, lastReceiptMs, sealedUntilMs, quarantinedUntilMs, closedEarly }: ClockState,
  nowMs: number,
): readonly string[] => {
  const apartMs = databaseMs - nowMs;
  const isAhead = (ms: number | null, byMs = AGREE_MS) => ms !== null && ms > databaseMs + byMs;
  return [
    ...(Math.abs(apartMs) > AGREE_MS
      ? [
          `The clocks of the database and of this machine are ${seconds(apartMs)} apart: correct the one that is wrong.`,
        ]
      : []),
    ...(isAhead(markMs)
      ? ['The high-water mark is in the future: processes hold decisions until the clock has passed it.']
      : []),
    ...(isAhead(lastReceiptMs)
      ? ['The last Receipt is dated in the future. It stays as it was signed.']
      : []),
    ...(isAhead(sealedUntilMs, -SEALED_BEHIND_MS + AGREE_MS) && sealedUntilMs > (quarantinedUntilMs ?? 0)
      ? ['The ledger is sealed into the future: no decision can be stored below the seal.']
      : []),
    ...closedEarly.map((day) => `${day} was closed before its end: no decision can be stored in it.`),
  ];
};

const describe = (
  { databaseMs, markMs, lastReceiptMs, sealedUntilMs, quarantinedUntilMs }: ClockState,
  nowMs: number,
): readonly string[] => [
  `database        ${instant(databaseMs)}`,
  `this machine    ${instant(nowMs)}`,
  `mark            ${instant(markMs)}`,
  `last Receipt    ${lastReceiptMs === null ? 'none in the database' : instant(lastReceiptMs)}`,
  `sealed until    ${instant(sealedUntilMs)}`,
  ...(quarantinedUntilMs === null ? [] : [`decisions from  ${instant(quarantinedUntilMs)}`]),
];

const instant = (ms: number | null): string => (ms === null ? 'none' : new Date(ms).toISOString());
const seconds = (ms: number): string => `${Math.round(ms / 100) / 10} s`;
