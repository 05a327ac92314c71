/** One case of vectors/evaluate as its author states it; the generator refuses it if the engine disagrees. */
import type { CheckId, CheckOutcome, ReasonCode } from '@svc/protocol';
import type { Scene } from './scene.ts';

export type Covers = Partial<Record<CheckId, CheckOutcome>>;

export interface VectorCase {
  readonly id: string;
  /** Why the case exists. */
  readonly description: string;
  /** The outcomes that the case is about. */
  readonly covers: Covers;
  /** Null: ALLOW. */
  readonly reason: ReasonCode | null;
  readonly edit: (scene: Scene) => void;
}

type Edit = (scene: Scene) => void;

export const allow = (
  id: string,
  description: string,
  covers: Covers,
  edit: Edit = () => {},
): VectorCase => ({
  id,
  description,
  covers,
  reason: null,
  edit,
});

export const deny = (
  reason: ReasonCode,
  id: string,
  description: string,
  covers: Covers,
  edit: Edit,
): VectorCase => ({ id, description, covers, reason, edit });
