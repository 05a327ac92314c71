/** Stores DID documents as evidence: an auditor of a Receipt finds the bytes that its hash names. */
import type { Sha256 } from '@svc/protocol';
import type { Repositories } from '../ports/store.ts';

export const DID_DOCUMENT_CONTENT_TYPE = 'application/did+json';

export const storeDocument = (
  tx: Pick<Repositories, 'evidence'>,
  hash: Sha256,
  text: string,
  contentType: string = DID_DOCUMENT_CONTENT_TYPE,
): Promise<void> => tx.evidence.insertLoose({ hash, contentType, body: Buffer.from(text, 'utf8') });
