/** `GET /.well-known/authzen-configuration` (interface §AuthZEN records). */
import { describe, expect, it } from 'vitest';
import { DOMAIN } from '../../world/api-node.ts';
import { withDeployment } from '../../world/deployment.ts';

const deployment = withDeployment();

describe('GET /.well-known/authzen-configuration', () => {
  it('names the endpoints under the public address, the issuer, the profiles and the Receipt version', async () => {
    const { status, json, headers } = await deployment.call('GET', '/.well-known/authzen-configuration');
    expect([status, headers['content-type'], headers['cache-control']]).toEqual([
      200,
      'application/json; charset=utf-8',
      'public, max-age=3600',
    ]);
    expect(json).toEqual({
      policy_decision_point: `http://${DOMAIN}`,
      access_evaluation_endpoint: `http://${DOMAIN}/access/v1/evaluation`,
      access_evaluations_endpoint: `http://${DOMAIN}/access/v1/evaluations`,
      svc: {
        issuer: `did:web:${DOMAIN}`,
        profiles: ['svc-base-v1', 'svc-base-v2'],
        proof_types: ['svc-proof+jwt'],
        receipt_version: 'svc-receipt-v1',
      },
    });
  });
});
