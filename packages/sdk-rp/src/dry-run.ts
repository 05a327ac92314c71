/** Predicts the result of a verification, for development and support. Never a verdict. */
import { type CallOptions, type DryRun, readDryRun, type Transport } from '@svc/sdk-core';
import { mismatchBeforeVerify } from './request-mismatch.ts';
import { type DryRunInput, readDryRunInput } from './verify-input.ts';

export async function dryRun(transport: Transport, input: DryRunInput, call: CallOptions): Promise<DryRun> {
  const { request, ...presented } = readDryRunInput(input);
  const mismatch = request === undefined ? null : mismatchBeforeVerify(presented.proof, request);
  if (mismatch !== null) throw mismatch;
  const { body } = await transport.send({
    method: 'POST',
    path: '/verify/dry-run',
    body: presented,
    hasEffect: false,
    ...call,
  });
  return readDryRun(body, 'the dry run');
}
