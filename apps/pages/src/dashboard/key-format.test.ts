import { describe, expect, it } from 'vitest';
import { keyProblem } from './key-format.ts';

describe('keyProblem', () => {
  it.each(['dk_rp_x', 'dk_principal_x', 'dk_org_read_x', 'dk_org_admin_x', 'dk_observer_x'])(
    'accepts %s',
    (key) => {
      expect(keyProblem(key)).toBeNull();
    },
  );

  it('refuses the admin token and says what it is for', () => {
    expect(keyProblem('lCj67pEJMV7ix6f3V26I0AQx1hQmqDeZQU5xHOxdtCo')).toMatch(
      /^This is no API key.*admin token makes keys/,
    );
  });

  it.each(['dk_rp_a b', 'dk_rp_ä', 'dk_rp_\u200b', 'dk_rp_\n'])(
    'refuses %j, which no header can carry',
    (text) => {
      expect(keyProblem(text)).toMatch(/no request can carry/);
    },
  );

  it('refuses a key of a class that does not open the dashboard', () => {
    expect(keyProblem('dk_provision_x')).toBe(
      'Keys of this class do not open the dashboard. Those that do begin with dk_rp_, dk_org_, dk_principal_ or dk_observer_.',
    );
  });
});
