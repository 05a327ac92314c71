/** Edits of the honest Grant, for the vectors about its form. */
import { purchaseCapability, type Scene } from '../scene.ts';
import { RP_DID } from '../test-keys.ts';
import { deny, type VectorCase } from '../vector-case.ts';

export type Row = readonly [id: string, description: string, edit: (scene: Scene) => void];

export const capabilities =
  (...list: unknown[]) =>
  (s: Scene) => {
    s.grant.subject.capabilities = list;
  };
export const payload = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.grant.payload, members);
};
export const header = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.grant.header, members);
};
export const status = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.grant.status, members);
};
export const subject = (members: Record<string, unknown>) => (s: Scene) => {
  Object.assign(s.grant.subject, members);
};
export const payloadText = (edit: (json: string) => string | Uint8Array) => (s: Scene) => {
  s.grant.editPayload = edit;
};
export const token = (edit: (text: string) => string) => (s: Scene) => {
  s.grant.editToken = edit;
};

export const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`;
export const dids = (count: number) => [
  ...Array.from({ length: count - 1 }, (_, i) => `did:web:rp-${i}.example`),
  RP_DID,
];
export const letters = (n: number) =>
  Array.from({ length: n }, (_, i) => `M${String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26))}`);

export const resources = (list: unknown) => capabilities(purchaseCapability({}, { resources: list }));

export const refusal = (
  reason: 'GRANT_MALFORMED' | 'UNSUPPORTED_FEATURE',
  prefix: string,
  [id, description, edit]: Row,
): VectorCase => deny(reason, `${prefix}-${id}`, description, { P1: false }, edit);
