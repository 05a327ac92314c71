/** The profiles a relying party can choose, each with its checks, its published document and that document's hash. */

import { checksOf } from '../checks/table.ts';
import { BASE_V1 } from './base-v1.ts';
import { BASE_V2 } from './base-v2.ts';
import type { Profile, ProfileId } from './profile.ts';
import { type PublishedProfile, publish } from './publish.ts';

export * from './profile.ts';
export type { CheckGroup, CheckOutcome, PublishedProfile } from './publish.ts';

const published = (profile: Profile): PublishedProfile => publish(profile, checksOf(profile.id));

/** Every profile, by its id. */
export const PROFILES: Readonly<Record<ProfileId, PublishedProfile>> = {
  'svc-base-v1': /* @__PURE__ */ published(BASE_V1),
  'svc-base-v2': /* @__PURE__ */ published(BASE_V2),
};
