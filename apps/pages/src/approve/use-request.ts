/** One request: read it, check it against its evidence, read it again when it expires, and answer it. */
import type { AccessRequest, CheckedAccessRequest, Signer } from '@svc/sdk-principal';
import { useEffect, useRef, useState } from 'preact/hooks';
import { problemText } from '../shared/api.ts';
import type { Act } from './act.ts';
import { checkPublished } from './published-key.ts';
import type { BroughtKey } from './vault.ts';
import { LIFETIME_SECONDS } from './wish.tsx';

/** A request as it was read, and whether its evidence holds. */
interface Read {
  readonly request: AccessRequest;
  /** Null where the request is already decided or in doubt. */
  readonly checked: CheckedAccessRequest | null;
  readonly doubt: Doubt | null;
}

/**
 * Why the request is not shown: either it cannot be trusted, or all that is signed agrees and only this clock does not.
 */
export interface Doubt {
  readonly isOfClock: boolean;
  readonly text: string;
}

/** What went wrong, and with which answer; null where reading the request failed. */
export interface Failure {
  readonly at: 'approve' | 'reject' | null;
  readonly text: string;
}

/** Milliseconds; a timer that is set for longer fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
/** Where this clock is ahead of the service's, a request can be past its expiry here and still be open there. */
const AGAIN_AFTER_MS = 30_000;

export const useRequest = (id: string, act: Act, principal: string) => {
  const [read, setRead] = useState<Read | null>(null);
  const [failure, setFailure] = useState<Failure | null>(null);
  const [isBusy, setIsBusy] = useState(false);
  // A request that was read before an answer does not show the state after it.
  const answers = useRef(0);
  const load = async () => {
    const before = answers.current;
    try {
      const now = await readRequest(act, id);
      if (answers.current !== before) return;
      setRead(now);
      setFailure((shown) => (shown?.at === null ? null : shown));
    } catch (error) {
      if (answers.current !== before) return;
      setFailure((shown) =>
        shown === null || shown.at === null ? { at: null, text: problemText(error) } : shown,
      );
    }
  };
  useEffect(() => void load(), []);
  const lookAgain = () => {
    setFailure((shown) => (shown?.at === null ? null : shown));
    void load();
  };
  useEffect(() => {
    if (read === null || read.request.task.status !== 'pending') return;
    const leftMs = Date.parse(read.request.task.expires_at) - Date.now();
    // Where the clocks disagree the request is read again every 30 s: a timer until its expiry would not move when this
    // clock is corrected.
    const isTimed = leftMs > 0 && read.doubt?.isOfClock !== true;
    const waitMs = isTimed ? Math.max(1_000, leftMs) : AGAIN_AFTER_MS;
    const timer = setTimeout(load, Math.min(waitMs, LONGEST_TIMER_MS));
    return () => clearTimeout(timer);
  }, [read]);

  const answer = async (at: 'approve' | 'reject', work: () => Promise<AccessRequest>) => {
    if (isBusy) return;
    setIsBusy(true);
    setFailure(null);
    try {
      const request = await work();
      answers.current += 1;
      setRead({ request, checked: null, doubt: null });
    } catch (error) {
      const now = await readRequest(act, id).catch(() => null);
      if (now !== null) {
        answers.current += 1;
        setRead(now);
      }
      setFailure({ at, text: problemText(error) });
    }
    setIsBusy(false);
  };
  const approve = (unlock: () => Promise<Signer>) =>
    answer('approve', async () => {
      if (read?.checked == null) throw new Error('Nothing that could be believed was shown.');
      const signer = await unlock();
      if (!signer.kid.startsWith(`${principal}#`))
        throw new Error(
          `This signing key is of ${signer.kid.split('#')[0]}, and ${principal} is asked. Nothing was signed.`,
        );
      return act(signer).approvals.approve(read.request, { lifetimeSeconds: LIFETIME_SECONDS });
    });
  const checkKey =
    ({ receipt }: CheckedAccessRequest) =>
    (brought: BroughtKey) =>
      checkPublished(brought, act, receipt);
  const reject = (reason: string) =>
    answer('reject', () => act().approvals.reject(id, reason === '' ? {} : { reason }));
  const forgetFailure = () => setFailure(null);
  return { read, failure, isBusy, approve, reject, checkKey, lookAgain, forgetFailure };
};

const readRequest = async (act: Act, id: string): Promise<Read> => {
  const { approvals } = act();
  const request = await approvals.get(id);
  if (request.task.status !== 'pending') return { request, checked: null, doubt: null };
  try {
    return { request, checked: await approvals.check(request), doubt: null };
  } catch (error) {
    const { kind } = Object(error) as { kind?: unknown };
    const isOfClock = kind === 'configuration';
    if (!isOfClock && kind !== 'receipt-invalid' && kind !== 'invalid-argument') throw error;
    return { request, checked: null, doubt: { isOfClock, text: problemText(error) } };
  }
};
