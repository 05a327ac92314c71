/** A reused thread still has the mutant of the previous run, which must not be active while modules are loaded. */
import { inject } from 'vitest';

const given = inject as (key: string) => unknown;
const stryker = (globalThis as Record<string, unknown>)[String(given('globalNamespace'))] as
  | { activeMutant?: unknown; mutantCoverage?: unknown }
  | undefined;
if (stryker !== undefined) {
  if (given('mutantActivation') !== 'static') stryker.activeMutant = undefined;
  if (given('mode') === 'dry-run') stryker.mutantCoverage = undefined;
}
