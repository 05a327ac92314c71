/** The two plain ALLOWs, and the three ways in which all checks after a refused token are skipped. */
import { type CheckOutcome, PROFILES } from '@svc/protocol';
import { API_CALL, apiCapability } from '../../scene.ts';
import { allow, type Covers, deny, type VectorCase } from '../../vector-case.ts';

/** The profile of the honest scene. */
const { checkIds } = PROFILES['svc-base-v1'];
const every = (outcome: CheckOutcome): Covers => Object.fromEntries(checkIds.map((id) => [id, outcome]));
const skipped = (...ids: readonly (keyof Covers)[]): Covers =>
  Object.fromEntries(ids.map((id) => [id, 'skipped']));

export const cases: readonly VectorCase[] = [
  allow('allow-purchase', 'a purchase within its Grant: all 24 checks are true', every(true)),
  allow('allow-api-call', 'an API call within its Grant: all 24 checks are true', every(true), (s) => {
    s.action = { ...API_CALL };
    s.grant.subject.capabilities = [apiCapability()];
  }),
  deny(
    'GRANT_MALFORMED',
    'skip-grant-malformed',
    'nothing that needs the Grant is looked at when it cannot be parsed; the Proof and the Action still are',
    {
      ...{ P1: false, P8: true, P9: true, P12: true, P13: true, P15: true, P14: true },
      ...skipped('T1', 'T2', 'T3', 'P2', 'P3', 'P4', 'P5', 'P6', 'P7', 'P10', 'P11'),
      ...skipped('P16', 'P17', 'P18', 'P19', 'P20', 'T5'),
    },
    (s) => {
      s.grant.editToken = () => 'not-a-token';
    },
  ),
  deny(
    'PROOF_MALFORMED',
    'skip-proof-malformed',
    'nothing that needs the Proof is looked at when it cannot be parsed; the Grant and its authority still are',
    {
      ...{ P3: true, P6: true, P7: true, P8: false, P15: true, P16: true, P20: true },
      ...skipped('P9', 'P10', 'P11', 'P12', 'P13', 'P14', 'T5'),
    },
    (s) => {
      s.proof.editToken = () => 'not-a-token';
    },
  ),
  deny(
    'ACTION_MALFORMED',
    'skip-action-malformed',
    'nothing that needs the Action is looked at when it is malformed',
    { P13: true, P15: false, ...skipped('P14', 'P16', 'P17', 'P18', 'P19', 'P20', 'T5') },
    (s) => {
      s.presentedAction = {};
    },
  ),
  deny(
    'GRANT_MALFORMED',
    'everything-wrong',
    'the first false check in pipeline order gives the reason, however many others are false',
    { P1: false, P8: false, P15: false, ...skipped('P9', 'P14', 'T5') },
    (s) => {
      s.grant.editToken = () => '';
      s.proof.editToken = () => '';
      s.presentedAction = {};
    },
  ),
];
