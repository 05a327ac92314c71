/**
 * Writes Receipts at the least cost: a fixed template for the body, one signature, and the Receipt inserted into its
 * own text.
 */
import { generateKeyPairSync, sign } from 'node:crypto';
import { buildAllowBody, RECEIPT_KID, type ReceiptFields } from '../fixtures/receipt-body.ts';
import type { World } from '../fixtures/world.ts';

const FIELDS: ReceiptFields = {
  agent: '{agent}',
  evaluatedAt: '{evaluatedAt}',
  expiresAt: '{expiresAt}',
  grantHash: '{grantHash}',
  grantId: '{grantId}',
  proofHash: '{proofHash}',
  receiptId: '{receiptId}',
  requestHash: '{requestHash}',
  statusListIndex: '{statusListIndex}',
};

export interface WrittenReceipt {
  readonly jws: string;
  /** The body of the answer. */
  readonly text: string;
}

export class ReceiptWriter {
  private readonly key = generateKeyPairSync('ed25519').privateKey;
  private readonly header = Buffer.from(
    JSON.stringify({ alg: 'EdDSA', kid: RECEIPT_KID, typ: 'svc-receipt+jwt' }),
  ).toString('base64url');
  /** Text and field names, alternating. */
  private readonly parts: readonly string[];

  constructor(world: World) {
    this.parts = JSON.stringify(buildAllowBody(world, FIELDS)).split(/\{(\w+)\}/);
  }

  write(fields: ReceiptFields): WrittenReceipt {
    const body = this.fill(fields);
    const signingInput = `${this.header}.${Buffer.from(body).toString('base64url')}`;
    const signature = sign(null, Buffer.from(signingInput), this.key).toString('base64url');
    const jws = `${signingInput}.${signature}`;
    const place = body.indexOf('"receipt_id"');
    return { jws, text: `${body.slice(0, place)}"receipt":"${jws}",${body.slice(place)}` };
  }

  private fill(fields: ReceiptFields): string {
    let text = this.parts[0] ?? '';
    for (let i = 1; i < this.parts.length; i += 2)
      text += fields[this.parts[i] as keyof ReceiptFields] + (this.parts[i + 1] ?? '');
    return text;
  }
}
