/**
 * The transparency log that is shown: that of the service, or the example, which is a valid log of a service that does
 * not exist.
 */
import { ApiProblem, callApi } from '../shared/api.ts';
import type { Attestation, Checkpoint, InclusionPending, InclusionProof, Metrics } from '../shared/wire.ts';
import example from './example.json';

export interface Log {
  /** The last closed day, and how many days are closed; null while none is. */
  readonly findLatest: () => Promise<{ readonly day: string; readonly count: number } | null>;
  readonly getDay: (day: string) => Promise<Checkpoint>;
  readonly getInclusion: (receiptId: string) => Promise<InclusionProof | InclusionPending>;
  readonly getAttestation: (receiptId: string) => Promise<string>;
}

export const OWN: Log = {
  // Read from the metrics: asking for a day that is not closed answers an error, which the browser would report as one.
  findLatest: async () => {
    const { body } = await callApi<Metrics>('metrics', { query: { days: '1' } });
    const { latest_day: day, checkpoints: count = 0 } = body.transparency;
    return day === undefined ? null : { day, count };
  },
  getDay: async (day) => (await callApi<Checkpoint>(`checkpoints/${encodeURIComponent(day)}`)).body,
  getInclusion: async (receiptId) =>
    (await callApi<InclusionProof | InclusionPending>(`decisions/${receiptId}/inclusion`)).body,
  getAttestation: async (receiptId) =>
    (await callApi<Attestation>(`decisions/${receiptId}/attestation`)).body.attestation,
};

const notThere = (what: string): never => {
  throw new ApiProblem(404, `The example has no ${what}.`);
};

/** The text of the DID document of the example's service. */
export const EXAMPLE_DOCUMENT = JSON.stringify(example.did_document);

/** Two closed days of a service that does not exist; every check of them passes. */
export const EXAMPLE: Log = {
  findLatest: async () => ({ day: example.days.at(-1)?.day ?? '', count: example.days.length }),
  getDay: async (day) =>
    (example.days.find((one) => one.day === day) as Checkpoint | undefined) ?? notThere(day),
  getInclusion: async (receiptId) =>
    example.proofs.find((one) => one.receipt_id === receiptId) ?? notThere(`proof for ${receiptId}`),
  getAttestation: async (receiptId) => notThere(`attestation of ${receiptId}`),
};

export const isOfExample = (receiptId: string): boolean =>
  example.proofs.some((one) => one.receipt_id === receiptId);
