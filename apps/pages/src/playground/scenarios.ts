/**
 * The scenarios: one honest request, and five ways to cheat. Each runs against the real engine with a real Grant and
 * Proof of the sandbox, and does only what a cheat could do. Only the Agent can sign, so a changed Proof has a
 * signature that does not verify.
 */
import { decodeBase64urlText, encodeBase64urlText, isJsonObject } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { callApi, repeated } from '../shared/api.ts';
import { formatAmount } from '../shared/describe.ts';
import type { DemoInfo, DemoMint, VerifyRequest } from '../shared/wire.ts';

export type ScenarioId = 'honest' | 'amount' | 'audience' | 'action' | 'replay' | 'revoke';

export interface Scenario {
  readonly id: ScenarioId;
  readonly name: string;
  /** What the cheat does. */
  readonly does: string;
  /** What the scenario shows, displayed after it has run. */
  readonly teaches: string;
}

export const CHEATS: readonly Scenario[] = [
  {
    id: 'amount',
    name: 'Amount above authority',
    does: 'The Agent signs for more than its Grant allows.',
    teaches:
      'Agent, Proof and Grant are all in order; only the authority does not reach that far. The Principal’s limit holds even against its own Agent.',
  },
  {
    id: 'audience',
    name: 'Other audience',
    does: 'The Proof is readdressed to another shop after it was signed.',
    teaches:
      'The audience stands inside what the Agent signed, so readdressing breaks the signature and P9 stops it. A Proof that the Agent itself had signed for another shop would pass P9 and fail P12, PROOF_AUDIENCE_MISMATCH; the sandbox’s Agent signs for this shop only.',
  },
  {
    id: 'action',
    name: 'Changed action',
    does: 'The shop is asked for another purchase than the one signed for.',
    teaches:
      'The Proof is for one action, to the last character. A shop that charges anything else gets no ALLOW.',
  },
  {
    id: 'replay',
    name: 'Replay',
    does: 'A Proof that was already used is presented again.',
    teaches: 'An ALLOW spends its Proof. Whoever copies it from the wire holds a spent one.',
  },
  {
    id: 'revoke',
    name: 'Revoked Grant',
    does: 'The Principal revokes the Grant before the Proof is used.',
    teaches: 'Revocation holds from the moment it is acknowledged, for every Proof under that Grant.',
  },
];

export interface Run {
  readonly scenario: ScenarioId;
  /** The steps of the run, in order. */
  readonly steps: readonly string[];
  readonly mintAmount: number;
  /** The last request to `/demo/verify`; the Receipt is its answer. */
  readonly request: VerifyRequest;
  readonly receipt: Receipt;
}

/** The limit of the sandbox's Grant, in minor units. Until it is loaded, the value that the interface states. */
export const limitOf = (info: DemoInfo | null): { maxAmount: number; currency: string } => {
  const { maxAmount, currency } = info?.authority.constraints ?? { maxAmount: 50_000, currency: 'USD' };
  return {
    maxAmount: typeof maxAmount === 'number' ? maxAmount : 0,
    currency: typeof currency === 'string' ? currency : 'USD',
  };
};

/**
 * Runs a scenario. Where the service was busy it runs again from the beginning, with a new Grant and Proof. Rejects
 * with ApiProblem.
 */
export const play = (scenario: ScenarioId, amount: number, info: DemoInfo): Promise<Run> =>
  repeated(() => playOnce(scenario, amount, info));

const playOnce = async (scenario: ScenarioId, amount: number, info: DemoInfo): Promise<Run> => {
  const { maxAmount, currency } = limitOf(info);
  const mintAmount = amountFor(scenario, amount, maxAmount);
  const { body: minted } = await callApi<DemoMint>('demo/mint', { body: { amount: mintAmount } });
  const steps = [
    `The Principal issued a Grant up to ${formatAmount(maxAmount, currency)}.`,
    `The Agent signed a Proof for ${describe(minted.action)}.`,
  ];
  const honest: VerifyRequest = { grant: minted.grant, proof: minted.proof, action: minted.action };
  const request = await prepare(scenario, honest, minted, steps);
  steps.push(`The shop asked whether to go ahead with ${describe(request.action)}.`);
  const { body: receipt } = await callApi<Receipt>('demo/verify', { body: request });
  return { scenario, steps, mintAmount, request, receipt };
};

/** An honest request may ask for any amount. A cheat stays within the limit, so that only the cheat itself fails. */
const amountFor = (scenario: ScenarioId, amount: number, maxAmount: number): number => {
  if (scenario === 'honest') return amount;
  return scenario === 'amount' ? Math.max(amount, maxAmount + 1) : Math.min(amount, maxAmount);
};

/** Changes the request as the cheat would, and appends to `steps`. */
const prepare = async (
  scenario: ScenarioId,
  honest: VerifyRequest,
  minted: DemoMint,
  steps: string[],
): Promise<VerifyRequest> => {
  switch (scenario) {
    case 'audience':
      steps.push(`Somebody readdressed the Proof to ${OTHER_SHOP}.`);
      return { ...honest, proof: readdress(honest.proof) };
    case 'action': {
      const action = changedAction(honest.action);
      steps.push(`Somebody changed the action to ${describe(action)}.`);
      return { ...honest, action };
    }
    case 'replay': {
      const { body: first } = await callApi<Receipt>('demo/verify', { body: honest });
      steps.push(
        `The shop asked once and got ${first.decision}.`,
        'Somebody presented the same Proof again.',
      );
      return honest;
    }
    case 'revoke':
      await callApi('demo/revoke', { body: { grant_id: minted.grant_id } });
      steps.push('The Principal revoked the Grant.');
      return honest;
    default:
      return honest;
  }
};

export const OTHER_SHOP = 'did:web:another-shop.example';

const changedAction = (action: VerifyRequest['action']): VerifyRequest['action'] => ({
  ...action,
  amount: action.amount === 0 ? 1 : Math.floor(action.amount / 2),
});

const describe = ({ amount, currency, resource }: VerifyRequest['action']): string =>
  `${formatAmount(amount, currency)} · ${resource}`;

/** Changes the audience of the Proof and keeps its old signature. */
const readdress = (proof: string): string => {
  const [header = '', payload = '', signature = ''] = proof.split('.');
  const claims: unknown = JSON.parse(decodeBase64urlText(payload) ?? 'null');
  const changed = isJsonObject(claims as never) ? { ...(claims as object), aud: OTHER_SHOP } : {};
  return [header, encodeBase64urlText(JSON.stringify(changed)), signature].join('.');
};
