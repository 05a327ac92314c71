/** Self-serve tenants on the wire (interface §Self-serve and sandbox records). */
import { type Body, type Routes, routes } from '@svc/contract';
import { formatSeconds } from '@svc/protocol';
import type { SelfServeBundle, Starter } from '@svc/service';
import { presentOrg } from '../endpoints/orgs.ts';

export const presentBundle = (
  baseUrl: string,
  { org, orgAdminKey, relyingParty, rpVerifyKey, starter }: SelfServeBundle,
): Body<Routes['signUp'], 201> => ({
  org: presentOrg(org),
  org_admin_key: orgAdminKey,
  relying_party: {
    did: relyingParty.did,
    name: relyingParty.name,
    profile: relyingParty.profile,
    proof_window_seconds: relyingParty.proofWindowSeconds,
  },
  rp_verify_key: rpVerifyKey,
  starter: presentStarter(baseUrl, starter),
});

export const presentStarter = (
  baseUrl: string,
  { grant, proof, action, grantId, expiresAtMs }: Starter,
): Body<Routes['getStarter'], 200> => {
  const verifyUrl = baseUrl + routes.verify.path;
  return {
    grant,
    proof,
    action,
    grant_id: grantId,
    expires_at: formatSeconds(expiresAtMs),
    verify_url: verifyUrl,
    verify_curl: curlOf(verifyUrl, JSON.stringify({ grant, proof, action })),
  };
};

/** For a POSIX shell. The reader puts the key in the place of `<rp_verify_key>`. */
const curlOf = (url: string, body: string): string =>
  [
    `curl -sS ${quote(url)}`,
    `-H ${quote('Authorization: Bearer <rp_verify_key>')}`,
    `-H ${quote('Content-Type: application/json')}`,
    `--data ${quote(body)}`,
  ].join(' ');

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
