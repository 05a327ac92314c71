/** The profile of a relying party, where this version knows it. */
import { isProfileId, PROFILES, type PublishedProfile } from '@svc/protocol';
import { ServiceError } from '../errors.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';

/** The operator must act before a repeated call can succeed. */
const RETRY_AFTER_SECONDS = 60;

/**
 * Throws `SERVICE_UNAVAILABLE` where the stored profile is none of this version: a later version had set it before the
 * operator went back to this one.
 */
export const knownProfileOf = ({
  did,
  profile,
}: Pick<RelyingPartyRecord, 'did' | 'profile'>): PublishedProfile => {
  if (isProfileId(profile)) return PROFILES[profile];
  throw new ServiceError(
    'SERVICE_UNAVAILABLE',
    `The version of the service that runs does not know the profile of ${did}, ${profile}, so nothing was decided. The operator of the service must run a version that does, or set another profile.`,
    { detail: `unknown profile ${profile}`, retryAfterSeconds: RETRY_AFTER_SECONDS },
  );
};
