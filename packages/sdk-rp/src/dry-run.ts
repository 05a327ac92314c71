/** What a verification would come to, for development and support. Never a verdict. */
import {
  type CallOptions,
  checkValue,
  type DryRun,
  isObject,
  readDryRun,
  rule,
  type Transport,
} from '@svc/sdk-core';
import { readPresented, type VerifyInput } from './verify-input.ts';

/** What a dry run is asked with: a verification's input. The request received is not needed, since no Receipt is bound to it. */
export type DryRunInput = Omit<VerifyInput, 'request'> & Partial<Pick<VerifyInput, 'request'>>;

export async function dryRun(transport: Transport, input: DryRunInput, call: CallOptions): Promise<DryRun> {
  checkValue('the argument of dryRun', input, rule('{ grant, proof, action }', isObject));
  const { body } = await transport.send({
    method: 'POST',
    path: '/verify/dry-run',
    body: readPresented(input),
    hasEffect: false,
    ...call,
  });
  return readDryRun(body, 'the dry run');
}
