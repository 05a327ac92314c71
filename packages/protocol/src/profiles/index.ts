/** The profiles a relying party can choose, each with its published document and that document's hash. */

import { portableCrypto, type Sha256, sha256Of } from '@svc/codec';
import { CHECKS } from '../checks/table.ts';
import { BASE_V1 } from './base-v1.ts';
import { BASE_V2 } from './base-v2.ts';
import { profileDocument } from './document.ts';
import type { Profile, ProfileId } from './profile.ts';

export type { Profile, ProfileId };

/** A profile with its published text and the hash of that text, which Receipts name. */
export interface PublishedProfile {
  readonly profile: Profile;
  readonly document: string;
  readonly hash: Sha256;
}

const publish = (profile: Profile): PublishedProfile => {
  const document = profileDocument(profile, CHECKS);
  return { profile, document, hash: sha256Of(portableCrypto, document) };
};

/** Every profile, by its id. */
export const PROFILES: Readonly<Record<ProfileId, PublishedProfile>> = {
  'svc-base-v1': /* @__PURE__ */ publish(BASE_V1),
  'svc-base-v2': /* @__PURE__ */ publish(BASE_V2),
};

/** Whether a value is the id of a profile that this version knows. */
export const isProfileId = (text: unknown): text is ProfileId =>
  typeof text === 'string' && Object.hasOwn(PROFILES, text);
