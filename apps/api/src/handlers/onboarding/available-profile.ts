/** Profiles that this build's engine can evaluate. */
import { isProfileId } from '@svc/protocol';
import { invalidRequest, type ProfileId } from '@svc/service';

export const availableProfile = (profile: string): ProfileId => {
  if (isProfileId(profile)) return profile;
  throw invalidRequest(`profile: ${profile} is not available on this deployment; use svc-base-v1`);
};
