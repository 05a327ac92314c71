/**
 * Starts and reads conformance runs (interface §Conformance). An account is an RP, a Principal, an org or the operator:
 * it has one run at a time, and nobody else sees its runs. The runner applies the outbound guard to the endpoint; a
 * refusal by the guard is the outcome of the run.
 */
import { encodeUlid } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { lockLiveKey } from '../access/live-key.ts';
import { nameOfSubject, tenantOf } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, notFound, rateLimited } from '../errors.ts';
import type { ConformanceRunRecord, VectorSetName } from '../ports/conformance.ts';
import { parseEndpoint } from './endpoint.ts';

const STARTS_PER_HOUR = 10;
/** Maximum number of unfinished runs of an org and its members. */
const RUNS_AT_ONCE = 4;
/** Maximum duration of a run. */
const RUN_SECONDS = 120;

/**
 * Starts a run. Throws 400, 409 while a run of the account is unfinished, and 429 above ten starts of a key in an hour
 * or four unfinished runs of the org. A refused start is not counted.
 */
export const startConformanceRun = async (
  deps: ServiceDeps,
  caller: Caller,
  endpointText: string,
  vectors: VectorSetName,
): Promise<ConformanceRunRecord> => {
  const endpoint = parseEndpoint(endpointText, deps.identity, deps.mappedHosts);
  const keyId = caller.keyId ?? caller.class;
  return deps.store.transaction(async (tx) => {
    await lockLiveKey(tx, caller);
    const tenant = tenantOf(caller);
    const runs = await tx.conformanceRuns.countForUpdate(tenant.org);
    const runId = `cfr_${encodeUlid(deps.clock.nowMs(), deps.random.bytes(10))}`;
    const run = await tx.conformanceRuns.insert({
      runId,
      account: accountOf(caller),
      keyId,
      endpoint,
      vectors,
      tenant,
    });
    if (run === null) throw conflict('A conformance run of this account is running; wait for its end.');
    if (runs >= RUNS_AT_ONCE)
      throw rateLimited(
        `Too many runs: ${RUNS_AT_ONCE} of the org and its members wait or are running; start another once one of them has ended`,
        RUN_SECONDS,
      );
    // Counted after the insert: before it, another start of the account could still be under way.
    const { starts, firstLeavesInSeconds } = await tx.conformanceRuns.countStarts(keyId);
    if (starts > STARTS_PER_HOUR)
      throw rateLimited(
        `Too many runs: a key starts ${STARTS_PER_HOUR} in an hour; try again in ${firstLeavesInSeconds} s`,
        firstLeavesInSeconds,
      );
    return run;
  });
};

/** The run. A run of another account is answered like an absent one. */
export const getConformanceRun = async (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Caller,
  runId: string,
): Promise<ConformanceRunRecord> => {
  const run = await store.conformanceRuns.find(runId);
  if (run === null || run.account !== accountOf(caller)) throw notFound(`No conformance run ${runId}.`);
  return run;
};

const accountOf = (caller: Caller): string =>
  caller.subject === null ? caller.class : nameOfSubject(caller);
