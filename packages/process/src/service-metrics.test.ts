import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createEd25519Metric, createServiceMetrics } from './service-metrics.ts';

it('svc_signer_gone shows the fault of a signer outside the process by its purpose, and 0 for one in the process', async () => {
  let fault: string | null = 'token svc: no such token is there';
  const sign = () => new Uint8Array(64);
  const registry = new Registry();
  createServiceMetrics(
    registry,
    { list: () => [] },
    {
      receiptKeys: { signer: { kid: 'receipt-1', sign } },
      statusKeys: { signer: { kid: 'status-1', sign, findFault: () => fault } },
    },
  );
  const gone = async () =>
    (await registry.metrics()).split('\n').filter((line) => line.startsWith('svc_signer_gone'));
  expect(await gone()).toEqual(['svc_signer_gone{signer="receipt"} 0', 'svc_signer_gone{signer="status"} 1']);
  fault = null;
  expect(await gone()).toEqual(['svc_signer_gone{signer="receipt"} 0', 'svc_signer_gone{signer="status"} 0']);
});

it('svc_ed25519_info names the implementation of Ed25519', async () => {
  const registry = new Registry();
  createEd25519Metric(registry, { name: 'sodium' });
  expect(await registry.metrics()).toContain('\nsvc_ed25519_info{by="sodium"} 1\n');
});
