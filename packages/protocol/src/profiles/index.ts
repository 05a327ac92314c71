/** The profiles a relying party can choose, each with its checks, its published document and that document's hash. */

import { checksOf } from '../checks/table.ts';
import { BASE_V1 } from './base-v1.ts';
import { BASE_V2 } from './base-v2.ts';
import { PROFILE_IDS, type Profile, type ProfileId } from './profile.ts';
import { type CheckGroup, type CheckOutcome, type PublishedProfile, publish } from './publish.ts';

export {
  type CheckGroup,
  type CheckOutcome,
  PROFILE_IDS,
  type Profile,
  type ProfileId,
  type PublishedProfile,
};

const published = (profile: Profile): PublishedProfile => publish(profile, checksOf(profile.id));

/** Every profile, by its id. */
export const PROFILES: Readonly<Record<ProfileId, PublishedProfile>> = {
  'svc-base-v1': /* @__PURE__ */ published(BASE_V1),
  'svc-base-v2': /* @__PURE__ */ published(BASE_V2),
};

/** Whether a value is the id of a profile that this version knows. */
export const isProfileId = (text: unknown): text is ProfileId =>
  typeof text === 'string' && Object.hasOwn(PROFILES, text);
