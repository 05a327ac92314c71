/** `POST /checkpoints/close` (interface §Transparency). Who may call: access matrix. */
import { describe, expect, it } from 'vitest';
import { withOwnDeployment } from '../../world/deployment.ts';
import { withThreeDays } from '../../world/three-days.ts';

const { close, days, large } = await withThreeDays(withOwnDeployment());

describe('closed days', () => {
  it('are closed by the operator, once', async () => {
    expect((await close()).json).toEqual({ closed: days, latest: large });
    expect((await close()).json).toEqual({ closed: [], latest: large });
  });
});
