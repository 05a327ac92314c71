/** One key or token of every class in the interface, and every way to send no valid credential. */
import { randomBytes } from 'node:crypto';
import { type ApiKeyRole, issueApiKey } from '@svc/service';
import { ADMIN_TOKEN } from '../../world/api-node.ts';
import type { Deployment } from '../../world/deployment.ts';
import type { World } from './world.ts';

export const PROVISION_KEY = 'provision-key-0123456789-0123456789';

/** Classes with a valid credential, in the order of the table's columns. */
export const CLASSES = [
  'rp',
  'principal',
  'org:read',
  'org:admin',
  'observer',
  'admin',
  'provision',
] as const;
export type CallerClass = (typeof CLASSES)[number];

const ROLES = [
  'rp',
  'principal',
  'org:read',
  'org:admin',
  'observer',
] as const satisfies readonly ApiKeyRole[];

/** A new key, so that limits count no other calls; the operator and the console have one token each. */
export const credentialOf = (deployment: Deployment, world: World, caller: CallerClass): Promise<string> => {
  if (caller === 'admin') return Promise.resolve(ADMIN_TOKEN);
  if (caller === 'provision') return Promise.resolve(PROVISION_KEY);
  return deployment.createKey(caller, subjectOf(world, caller));
};

const subjectOf = ({ own }: World, role: ApiKeyRole): string => {
  if (role === 'rp') return own.relyingParty;
  if (role === 'principal') return own.principal;
  return role === 'observer' ? 'did:web:svc.test' : own.orgId;
};

/** Invalid credentials: none, keys that were never issued, and a revoked key of each class. */
export const buildNobodies = async (
  deployment: Deployment,
  world: World,
): Promise<Readonly<Record<string, string | undefined>>> => {
  const nobodies: Record<string, string | undefined> = {
    none: undefined,
    'unknown key': await unknownKey(),
    'unknown token': `${ADMIN_TOKEN}x`,
  };
  for (const role of ROLES) {
    const key = await deployment.createKey(role, subjectOf(world, role));
    await deployment.revokeKey(key);
    nobodies[`revoked ${role} key`] = key;
  }
  return nobodies;
};

/** Well formed, with a valid checksum. */
const unknownKey = async (): Promise<string> => {
  const apiKeys = { findById: async () => null, insert: async () => null };
  const tx = { apiKeys } as unknown as Parameters<typeof issueApiKey>[0];
  const key = { role: 'rp', subject: 'did:web:nobody.example', label: null } as const;
  return (await issueApiKey(tx, { bytes: (length) => randomBytes(length) }, key)).value;
};
