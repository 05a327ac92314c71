/**
 * A purchase above the limit, from its denial over the Principal's approval to the Grant that is used up. Each step
 * calls the real engine, and shows its answer.
 */
import { REASON_TEXTS, type ReasonCode } from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import { callApi, repeated } from '../shared/api.ts';
import type { DemoApproval, DemoInfo, DemoMint, VerifyRequest } from '../shared/wire.ts';
import { limitOf } from './scenarios.ts';

/** What the steps so far have produced. */
export interface StoryState {
  readonly denied?: { readonly receipt: Receipt; readonly proof: string };
  readonly asked?: DemoApproval['request'];
  readonly approved?: DemoApproval;
  readonly allowed?: Receipt;
  readonly usedUp?: Receipt;
}

/** Above what the Grant allows. */
export const storyAmount = (info: DemoInfo | null): number => Math.round(limitOf(info).maxAmount * 1.8);

/**
 * Why the playground's request was denied. P19 checks two things, the amount of one purchase and what is left of the
 * budget; `isWithinAmount` says that the first is known to hold.
 */
export const whyDenied = (reason: ReasonCode, isWithinAmount: boolean): string => {
  if (reason !== 'AMOUNT_EXCEEDS_AUTHORITY') return REASON_TEXTS[reason];
  return isWithinAmount
    ? 'Too little is left of the budget of the Grant.'
    : 'The amount is above what the Grant allows.';
};

/** The steps, in order. Each continues from the state of the one before, and adds to it. Rejects with ApiProblem. */
export const STEPS: readonly ((told: StoryState, info: DemoInfo) => Promise<StoryState>)[] = [
  (_, info) =>
    repeated(async () => {
      const { body: minted } = await callApi<DemoMint>('demo/mint', { body: { amount: storyAmount(info) } });
      const receipt = await verify(minted);
      return { denied: { receipt, proof: minted.proof } };
    }),
  async (told) => ({ ...told, asked: (await approval(told, false)).request }),
  async (told) => ({ ...told, approved: await approval(told, true) }),
  async (told) => ({ ...told, allowed: await verify(told.approved?.purchase) }),
  (told) => repeated(async () => ({ ...told, usedUp: await verify((await approval(told, true)).purchase) })),
];

const approval = ({ denied }: StoryState, approve: boolean): Promise<DemoApproval> =>
  repeated(async () => {
    const body = { receipt_id: denied?.receipt.receipt_id, proof: denied?.proof, approve };
    return (await callApi<DemoApproval>('demo/approval', { body })).body;
  });

const verify = async (purchase: VerifyRequest | null | undefined): Promise<Receipt> => {
  const { grant, proof, action } = purchase ?? {};
  return (await callApi<Receipt>('demo/verify', { body: { grant, proof, action } })).body;
};
