/** The routes that anybody may read (interface §Endpoints, Public). */
import { z } from 'zod';
import { slug } from '../formats.ts';
import { didDocument, health, jwks } from '../resources/public.ts';
import { defineRoute, json, raw } from '../route.ts';

const CACHE = { 'Cache-Control': 'How long the bytes may be cached.' };
const didJson = (description: string) =>
  raw(['application/did+json', 'application/json'], description, { schema: didDocument, headers: CACHE });

/**
 * The content types of stored evidence. No browser executes them, because the bytes are served under the service's own
 * name. A DID document keeps the JSON type that its host gave it.
 */
const EVIDENCE_TYPES = [
  'application/json',
  'application/did+json',
  'application/did+ld+json',
  'application/ld+json',
  'application/*+json',
  'application/vc+jwt',
  'application/octet-stream',
] as const;
export type EvidenceType = (typeof EVIDENCE_TYPES)[number];

const OF_JSON_FAMILY = /^application\/(?:[a-z0-9][a-z0-9.+_-]{0,99}\+)?json(?:; *charset=utf-8)?$/;

/** The content type if it may be served, else null. */
export const parseEvidenceType = (contentType: string): EvidenceType | null =>
  OF_JSON_FAMILY.test(contentType) || EVIDENCE_TYPES.some((type) => type === contentType)
    ? (contentType as EvidenceType)
    : null;

const evidenceHash = z
  .string()
  .regex(/^(sha256:)?[0-9a-f]{64}$/, {
    error: 'must be 64 lower-case hex characters, with or without sha256: in front',
  })
  .meta({ example: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' });

export const publicRoutes = {
  getHealth: defineRoute({
    method: 'get',
    path: '/healthz',
    tag: 'Public',
    summary: 'Is the service able to decide?',
    description:
      'For monitors and load balancers. Checks every backing service, so a 200 means that the service can decide.',
    auth: [],
    limiter: 'public',
    responses: {
      200: json(health, 'Every backing service is reachable.'),
      503: json(health, 'A backing service is unreachable.'),
    },
    errors: {},
  }),

  getServiceDidDocument: defineRoute({
    method: 'get',
    path: '/.well-known/did.json',
    tag: 'Public',
    summary: 'DID document of the service',
    description: [
      'The keys that sign Receipts (`#receipt-<n>`) and status lists (`#status-<n>`). Retired keys stay published, so',
      'that old Receipts can still be checked. Pin this document to check Receipts offline.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    responses: { 200: didJson('The DID document.') },
    errors: {},
  }),

  getServiceJwks: defineRoute({
    method: 'get',
    path: '/.well-known/jwks.json',
    tag: 'Public',
    summary: 'Keys of the service as a JWK Set',
    description: [
      'The keys of the DID document, for JOSE libraries. `kid` is the one in the header of a Receipt or status list.',
      'Compromised keys are left out; retired keys stay. A library that verifies a signature checks neither `nbf` and',
      '`exp` nor what is signed; `verifyReceipt` of `@svc/receipts` checks both.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    responses: {
      200: raw(['application/jwk-set+json', 'application/json'], 'The JWK Set.', {
        schema: jwks,
        headers: CACHE,
      }),
    },
    errors: {},
  }),

  getPrincipalDidDocument: defineRoute({
    method: 'get',
    path: '/org/{slug}/did.json',
    tag: 'Public',
    summary: 'DID document of a managed Principal',
    description:
      '`did:web:<domain>:org:<slug>` resolves to this document: the keys that sign the Principal’s Grants.',
    auth: [],
    limiter: 'public',
    params: z.strictObject({ slug }),
    responses: { 200: didJson('The DID document.') },
    errors: {},
  }),

  getRelyingPartyDidDocument: defineRoute({
    method: 'get',
    path: '/rp/{slug}/did.json',
    tag: 'Public',
    summary: 'DID document of a managed relying party',
    description:
      '`did:web:<domain>:rp:<slug>` resolves to this document. It has no keys, because a relying party signs nothing here.',
    auth: [],
    limiter: 'public',
    params: z.strictObject({ slug }),
    responses: { 200: didJson('The DID document.') },
    errors: {},
  }),

  getEvidence: defineRoute({
    method: 'get',
    path: '/evidence/{hash}',
    tag: 'Public',
    summary: 'Evidence by hash',
    description: [
      'The exact bytes that a Receipt refers to by hash: DID documents, status lists, profile documents, trust',
      'configurations. Hash them yourself and compare. Grants and Proofs are never served here.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    params: z.strictObject({ hash: evidenceHash }),
    responses: {
      200: raw(EVIDENCE_TYPES, 'The bytes, with their original content type.', { headers: CACHE }),
    },
    errors: {},
  }),

  getStatusList: defineRoute({
    method: 'get',
    path: '/status-lists/{domain}/{number}',
    tag: 'Public',
    summary: 'Revocation status list',
    description: [
      'A signed Bitstring Status List credential, as named by `statusListCredential` in a Grant. Bit 1 at a Grant’s',
      'index means revoked. A copy may be up to 30 seconds old; `POST /verify` never uses an old one.',
    ].join('\n'),
    auth: [],
    limiter: 'public',
    params: z.strictObject({
      domain: z
        .string()
        .regex(/^[A-Za-z0-9._:%-]{1,500}$/, { error: 'must be a domain' })
        .meta({ description: 'Domain of the Principal.', example: 'svc.example' }),
      number: z
        .string()
        .regex(/^(0|[1-9][0-9]{0,8})$/, { error: 'must be a list number' })
        .meta({ example: '1' }),
    }),
    responses: { 200: raw(['application/vc+jwt'], 'The signed list as a compact JWS.', { headers: CACHE }) },
    errors: {},
  }),
} as const;
