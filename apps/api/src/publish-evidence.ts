/**
 * Stores the evidence that every Receipt names, before the first Receipt: profile documents and the trust
 * configuration.
 */
import { PROFILES, sha256Of, TRUST_CONFIG, trustConfigDocument } from '@svc/protocol';
import type { ServiceDeps } from '@svc/service';

export const publishEvidence = async ({ store, crypto }: ServiceDeps): Promise<void> => {
  const documents = [
    ...Object.values(PROFILES).map(({ document }) => document),
    trustConfigDocument(TRUST_CONFIG),
  ];
  for (const document of documents)
    await store.evidence.insert({
      hash: sha256Of(crypto, document),
      contentType: 'application/json',
      body: Buffer.from(document, 'utf8'),
    });
};
