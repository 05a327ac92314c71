import { PROFILE_IDS, PROFILES } from '@svc/protocol';
import { expect, it } from 'vitest';
import { checksRunBy, stagesOf } from './check-meanings.ts';

it.each(PROFILE_IDS)('the stages list the checks that %s runs, in their order', (profile) => {
  const ids = checksRunBy(profile).map(({ id }) => id);
  expect(ids).toEqual(PROFILES[profile].checkIds);
  expect(stagesOf(ids).flatMap((stage) => stage.ids)).toEqual(ids);
});
