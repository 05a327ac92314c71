import { describe, expect, it } from 'vitest';
import type { Tenant } from '../ports/tenant.ts';
import { Waits } from './waits.ts';

const LONG_MS = 600_000;

const tenant = (org: number, subject: number, crowd: Tenant['crowd'] = 'tenants'): Tenant => ({
  crowd,
  org: `org ${org}`,
  subject: `subject ${org}/${subject}`,
});

/** Calls that wait until `end`. A call that is refused is refused within two microtasks. */
const opened = () => {
  const waits = new Waits(async () => []);
  const gone = new AbortController();
  const waiting: Promise<void>[] = [];
  const refusals: unknown[] = [];
  const wait = async (tenant: Tenant, calls: number): Promise<number> => {
    const before = refusals.length;
    for (let i = 0; i < calls; i += 1)
      waiting.push(
        waits.until('id', tenant, LONG_MS, gone.signal).catch((refusal) => void refusals.push(refusal)),
      );
    await Promise.resolve();
    await Promise.resolve();
    return calls - (refusals.length - before);
  };
  const end = () => {
    gone.abort();
    return Promise.all(waiting);
  };
  return { waits, wait, end, refusals };
};

describe('calls that wait on a node', () => {
  it('are at most 32 per subject, and one more gets RATE_LIMITED with a retry after 2 seconds', async () => {
    const { wait, end, refusals } = opened();
    expect(await wait(tenant(1, 1), 33)).toBe(32);
    expect(refusals).toMatchObject([{ code: 'RATE_LIMITED', retryAfterSeconds: 2 }]);
    expect(String(refusals[0])).toContain('32 calls of subject 1/1');
    await end();
  });

  it('are at most 256 per org, however many relying parties it has, and another org can wait as well', async () => {
    const { wait, end, refusals } = opened();
    let waiting = 0;
    for (let subject = 0; subject < 33; subject += 1) waiting += await wait(tenant(1, subject), 32);
    expect(waiting).toBe(256);
    expect(String(refusals[0])).toContain('256 calls of the org org 1');
    expect(await wait(tenant(2, 1), 32)).toBe(32);
    await end();
  });

  it('are at most 512 of all newcomers, however many orgs they have, and a customer can wait as well', async () => {
    const { wait, end } = opened();
    let waiting = 0;
    for (let org = 0; org < 33; org += 1) waiting += await wait(tenant(org, 1, 'newcomers'), 32);
    expect(waiting).toBe(512);
    expect(await wait(tenant(100, 1), 32)).toBe(32);
    await end();
  });

  it('are at most 1,024 in total, and a call that leaves frees its place', async () => {
    const { waits, wait, end } = opened();
    for (let org = 0; org < 31; org += 1) await wait(tenant(org, 1), 32);
    const leaving = new AbortController();
    const left = Array.from({ length: 32 }, () => waits.until('id', tenant(50, 1), LONG_MS, leaving.signal));
    expect(await wait(tenant(51, 1), 1)).toBe(0);
    leaving.abort();
    await Promise.all(left);
    expect(await wait(tenant(51, 1), 33)).toBe(32);
    await end();
    expect(await wait(tenant(50, 1), 1)).toBe(1);
  });
});
