/** `POST /checkpoints/close` (interface §Transparency). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { withThreeDays } from '../../world/three-days.ts';

const { close, days, large } = await withThreeDays(withOwnDeployment());

describe('POST /checkpoints/close', () => {
  it('closes all past days for the operator, and a repeat closes none', async () => {
    expect((await close()).json).toEqual({ closed: days, latest: large });
    expect((await close()).json).toEqual({ closed: [], latest: large });
  });
});
