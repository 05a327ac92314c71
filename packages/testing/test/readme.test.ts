import * as principalSdk from '@svc/sdk-principal';
import * as agentSdk from '@svc/sdk-principal/agent';
import { blocksOf, runBlock } from '@svc/testkit/sdk/readme-block';
import { expect, it } from 'vitest';
import * as testing from '../src/index.ts';

const modules = {
  '@svc/sdk-principal': principalSdk,
  '@svc/sdk-principal/agent': agentSdk,
  '@svc/testing': testing,
};

it('the example of the README runs and prints what it says', async () => {
  const { printed, said } = await runBlock(blocksOf('testing')[0], { modules });
  expect(said.length).toBeGreaterThan(0);
  expect(printed).toEqual(said);
});
