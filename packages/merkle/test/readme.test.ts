import { blocksOf, runBlock } from '@svc/testkit/sdk/readme-block';
import { describe, expect, it } from 'vitest';
import * as merkle from '../src/index.ts';

const modules = { '@svc/merkle': merkle };

describe('the examples of the README', () => {
  it.each(blocksOf('merkle').map((block, i) => [i + 1, block] as const))(
    'run and print what the README says: number %i',
    async (_, block) => {
      const { printed, said } = await runBlock(block, { modules });
      expect(said.length).toBeGreaterThan(0);
      expect(printed).toEqual(said);
    },
  );
});
