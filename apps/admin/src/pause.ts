/** `svc-admin pause`, `pause show` and `resume`: pause and resume the whole service (protocol §9). */

import { UsageError } from '@svc/cli/command-line';
import { createLogger } from '@svc/process';
import { formatTimestamp } from '@svc/protocol';
import { SERVICE_TARGET, type ServiceDeps, setPause } from '@svc/service';
import type { Command } from './command.ts';
import { withServiceThatSignsNothing } from './open.ts';

const OPERATOR = { class: 'admin', subject: null, keyId: null } as const;
const MAX_REASON = 500;

export const pauseCommand: Command = {
  name: 'pause',
  gist: 'Pauses the whole service: no node allows anything until svc-admin resume',
  options: {
    reason: { value: 'TEXT', text: 'reason, for the audit log and GET /pauses; at most 500 characters' },
  },
  notes: [
    `From the time that it prints, every verification is denied with SERVICE_UNAVAILABLE. It needs the database, but no running API. On
standard error it prints the JSON line that a node would write to its log: keep that line with the logs, since a restore reads it.
Exit code 2: the pause may or may not be recorded; run the command again.`,
  ],
  run: ({ reason }, env) => {
    const why = typeof reason === 'string' ? reason : null;
    if (why !== null && why.length > MAX_REASON)
      throw new UsageError(`--reason has ${why.length} characters, and at most ${MAX_REASON} are allowed`);
    return withServiceThatSignsNothing(env, async (service) => {
      const { record, atMs } = await setService(service, true, why);
      console.log(`Paused since ${formatTimestamp(atMs)}: no ALLOW is dated later.`);
      if (record !== null && why !== null && record.reason !== why)
        console.log(`It was already paused, and stays paused ${withReason(record.reason)}.`);
      return 0;
    });
  },
};

export const resumeCommand: Command = {
  name: 'resume',
  gist: 'Ends a pause of the whole service',
  options: {},
  notes: [
    'Pauses by Principals, relying parties and orgs stay. Keep the line on standard error with the logs, as for svc-admin pause.',
  ],
  run: (_, env) =>
    withServiceThatSignsNothing(env, async (service) => {
      const { record, atMs } = await setService(service, false, null);
      console.log(record === null ? 'It was never paused.' : `Resumed at ${formatTimestamp(atMs)}.`);
      return 0;
    }),
};

export const pauseShowCommand: Command = {
  name: 'pause show',
  gist: 'Says whether the whole service is paused, since when and why; the exit code is 1 if it is',
  options: {},
  run: (_, env) =>
    withServiceThatSignsNothing(env, async ({ store }) => {
      const found = await store.pauses.find(SERVICE_TARGET);
      if (found?.isPaused !== true) {
        console.log('The service is not paused.');
        return 0;
      }
      const since = `Paused since ${formatTimestamp(found.visibleAtMs ?? found.changedAtMs)}`;
      const repeat =
        found.visibleAtMs === null
          ? '; it is not confirmed yet that every node sees it: repeat svc-admin pause'
          : '';
      console.log(`${since}${found.reason === null ? '' : `: ${found.reason}`}${repeat}`);
      return 1;
    }),
};

const withReason = (reason: string | null): string =>
  reason === null ? 'without a reason' : `with its reason: ${reason}`;

const setService = (service: ServiceDeps, isPaused: boolean, reason: string | null) =>
  setPause(withPrintedLine(service), {
    caller: OPERATOR,
    target: SERVICE_TARGET,
    isPaused,
    reason,
    requestId: null,
  });

/** The log of this process is not kept, so the line that a restore would need is printed. */
const withPrintedLine = (service: ServiceDeps): ServiceDeps => {
  const printed = createLogger('info', { write: (line) => console.error(line.trimEnd()) });
  const info: ServiceDeps['log']['info'] = (event, fields) => {
    if (event === 'revocation') printed.info(fields, event);
    else service.log.info(event, fields);
  };
  return { ...service, log: { ...service.log, info } };
};
