import { readFileSync } from 'node:fs';
import * as protocol from '@svc/protocol';
import { blocksOf, runBlock } from '@svc/testkit/sdk/readme-block';
import { describe, expect, it } from 'vitest';
import * as transparency from '../src/index.ts';

const modules: Readonly<Record<string, object>> = {
  '@svc/protocol': protocol,
  '@svc/transparency': transparency,
};

const readText = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

const vectors = JSON.parse(readText('../../../vectors/merkle.json'));
const { service_did_document: document } = JSON.parse(readText('../../../vectors/keys.json'));
const bundle = JSON.parse(readText('../../../examples/bundle/bundle.json'));
/** What the README's text expects its reader to have. */
const given = {
  didDocument: document,
  jws: vectors.checkpoints[0].checkpoint,
  receiptId: bundle.inclusion.receipt_id,
  inclusion: bundle.inclusion,
  checkpoint: bundle.checkpoint,
  serviceDidDocument: bundle.did_document,
};

describe('the examples of the README', () => {
  it.each(blocksOf('transparency').map((block, i) => [i + 1, block] as const))(
    'run and print what the README says: number %i',
    async (_, block) => {
      const { printed, said } = await runBlock(block, { modules, given });
      expect(said.length).toBeGreaterThan(0);
      expect(printed).toEqual(said);
    },
  );
});
