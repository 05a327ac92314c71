/** Runs the checks of `deploy/`. A check whose tools are missing names them. */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isDeep } from '@svc/testkit/sampled';
import { expect, it } from 'vitest';

/** Exit code of a check of `deploy/` that names a missing tool. */
const TOOLS_ARE_MISSING = 77;
const DEADLINE_MS = 300_000;

const CHECKS = [
  ['systemd/check', 'the units are confined to an exposure of 2.0 at most'],
  ['helm/check', 'what the chart renders is what Kubernetes takes, and confined'],
  ['compose/check --static', 'the compose file is valid, and every service of it confined'],
  ['observability/check', 'the alerts fire on what they name, and on nothing else'],
] as const;

/** In a sample only the first: the others take ten seconds each, or most of a minute. */
const taken = CHECKS.slice(0, isDeep ? CHECKS.length : 1);

it.for(taken)('deploy/%s: %s', { timeout: DEADLINE_MS }, ([command], context) => {
  const [path = '', ...parameters] = command.split(' ');
  const file = fileURLToPath(new URL(`../../../../deploy/${path}`, import.meta.url));
  const { status, stdout, stderr } = spawnSync(file, parameters, { encoding: 'utf8', timeout: DEADLINE_MS });
  if (status === TOOLS_ARE_MISSING) {
    console.warn(`deploy/${path}: ${stderr.trim()}`);
    return context.skip(stderr.trim());
  }
  expect(status, stdout + stderr).toBe(0);
});
