/** The messages between the harness and the load process. */
export type Order =
  /** Sign this many new requests; earlier ones are discarded. */
  { readonly kind: 'sign'; readonly count: number } | ({ readonly kind: 'load' } & LoadOrder);

export interface LoadOrder {
  readonly url: string;
  readonly connections: number;
  /** Load before the window opens; not counted. */
  readonly leadInMs: number;
  readonly windowMs: number;
  /** Ids of the top processes of what is measured. */
  readonly serverPid: number;
  readonly postgresPid: number;
}

export type Report =
  | { readonly kind: 'signed' }
  | ({ readonly kind: 'loaded' } & LoadReport)
  | { readonly kind: 'failed'; readonly problem: string };

/** Results of the time while the window was open. CPU in milliseconds. */
export interface LoadReport {
  readonly seconds: number;
  /** Answers that were 200 with an ALLOW. */
  readonly allowed: number;
  /** Every other answer, by its kind, including the lead-in. */
  readonly others: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverCpuMs: number;
  readonly postgresCpuMs: number;
  readonly loadCpuMs: number;
  /** CPU of the rest of the machine meanwhile, including kernel threads. */
  readonly elsewhereCpuMs: number;
}
