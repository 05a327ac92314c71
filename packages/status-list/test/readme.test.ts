import { blocksOf, runBlock } from '@svc/testkit/sdk/readme-block';
import { expect, it } from 'vitest';
import * as statusList from '../src/index.ts';

const modules = { '@svc/status-list': statusList };

it('the example of the README runs and prints what the README says', async () => {
  const { printed, said } = await runBlock(blocksOf('status-list')[0], { modules });
  expect(said.length).toBeGreaterThan(0);
  expect(printed).toEqual(said);
});
