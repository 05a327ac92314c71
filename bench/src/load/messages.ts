/** What the harness and the load process say to each other. */
export type Order =
  /** Sign this many fresh requests; those of before are thrown away. */
  { readonly kind: 'sign'; readonly count: number } | ({ readonly kind: 'load' } & LoadOrder);

export interface LoadOrder {
  readonly url: string;
  readonly connections: number;
  /** Load before the window opens; not counted. */
  readonly leadInMs: number;
  readonly windowMs: number;
  /** Process ids at the top of what is measured. */
  readonly serverPid: number;
  readonly postgresPid: number;
}

export type Report =
  | { readonly kind: 'signed' }
  | ({ readonly kind: 'loaded' } & LoadReport)
  | { readonly kind: 'failed'; readonly problem: string };

/** What happened while the window was open. CPU in milliseconds. */
export interface LoadReport {
  readonly seconds: number;
  /** Answers that were 200 with an ALLOW. */
  readonly allowed: number;
  /** Every other answer, by what it was, the lead-in included. */
  readonly others: Readonly<Record<string, number>>;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly serverCpuMs: number;
  readonly postgresCpuMs: number;
  readonly loadCpuMs: number;
  /** What the rest of the machine used meanwhile, kernel threads included. */
  readonly elsewhereCpuMs: number;
}
