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
  gist: 'Pauses the whole service: nothing is allowed, on no node, until svc-admin resume',
  options: {
    reason: { value: 'TEXT', text: 'why, for the audit log and GET /pauses; 500 characters at most' },
  },
  notes: [
    `From the time that it prints on every verification is denied with SERVICE_UNAVAILABLE. It needs the database, and no API that is up.
The line on standard error, of JSON, is that which a node would have in its log: keep it with the logs, a restore reads it.
Exit code 2: recorded perhaps; repeat it.`,
  ],
  run: ({ reason }, env) => {
    const why = typeof reason === 'string' ? reason : null;
    if (why !== null && why.length > MAX_REASON)
      throw new UsageError(`--reason has ${why.length} characters, and ${MAX_REASON} are allowed`);
    return withServiceThatSignsNothing(env, async (service) => {
      const { record, atMs } = await setService(service, true, why);
      console.log(`Paused since ${formatTimestamp(atMs)}: no ALLOW is dated later.`);
      if (record !== null && why !== null && record.reason !== why)
        console.log(`It was paused already, and stays so ${withReason(record.reason)}.`);
      return 0;
    });
  },
};

export const resumeCommand: Command = {
  name: 'resume',
  gist: 'Ends a pause of the whole service',
  options: {},
  notes: [
    'What Principals, relying parties and orgs have paused stays paused. Keep the line on standard error with the logs, as that of svc-admin pause.',
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
        found.visibleAtMs === null ? '; not known to be visible yet: repeat svc-admin pause' : '';
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
