/** P20: a run of asterisks longer than two (protocol §6). */
import { purchaseCapability } from '../../scene.ts';
import { allow, type VectorCase } from '../../vector-case.ts';

export const cases: readonly VectorCase[] = [
  allow('p20-three-stars', 'a run of three asterisks is as two', { P20: true }, (s) => {
    s.grant.subject.capabilities = [purchaseCapability({}, { resources: ['order***7'] })];
    s.action.resource = 'order/1001/items/7';
  }),
];
