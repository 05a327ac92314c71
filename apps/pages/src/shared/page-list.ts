/** The pages, and what stands at the top of each. */
export interface PageFrame {
  /** Relative to the root of the service. */
  readonly path: string;
  /** Its name in the navigation. */
  readonly name: string;
  readonly title: string;
  readonly lead: string;
  /** The text behind the name, with a link to a file of the service. */
  readonly file?: { readonly what: string; readonly name: string };
  /** Only served where the deployment has a sandbox. */
  readonly sandboxOnly?: true;
}

export const PAGES = {
  home: {
    path: './',
    name: 'Start',
    title: 'Did a Principal really allow this Agent this one action?',
    lead: 'An AI Agent asks your shop, or your API, to do something in somebody’s name. Ask this service first. It runs 24 checks, answers ALLOW or DENY, and signs its answer: a Receipt that anybody can check offline, for ever.',
  },
  guide: {
    path: 'guide',
    name: 'Guide',
    title: 'Guide',
    lead: 'How to ask, how to grant, how to act, how to operate and how to audit; what every error and reason means.',
  },
  playground: {
    path: 'playground',
    name: 'Playground',
    title: 'May this Agent buy this?',
    lead: 'A Principal gives an AI Agent a Grant. The Agent signs a Proof for one purchase. The shop asks this service, which runs 24 checks and signs its answer. Try it; nothing here is simulated.',
    sandboxOnly: true,
  },
  verifier: {
    path: 'verify-receipt',
    name: 'Verify',
    title: 'Verify a Receipt',
    lead: 'A Receipt is a decision that the service signed. Drop one here, or a whole bundle, and this tab checks all of it: the signature, the form, and whether the 24 checks, the decision and its reason fit together. Nothing leaves this tab.',
  },
  transparency: {
    path: 'transparency',
    name: 'Transparency',
    title: 'Transparency log',
    lead: 'Every day is closed with one signed root over all its Receipts, and names the root of the day before. A Receipt that is left out, or a day that is rewritten, would show. This tab recomputes what it shows.',
  },
  approve: {
    path: 'approve',
    name: 'Approve',
    title: 'May your Agent do this?',
    lead: 'An Agent of yours was denied something, and the relying party asks you. This page checks in your browser what your Agent has signed for. If you approve, your key signs for that alone, once; the service cannot sign it.',
  },
  dashboard: {
    path: 'dashboard',
    name: 'Dashboard',
    title: 'Dashboard',
    lead: 'What was decided and why, who acted and what is left, and the switches that stop it.',
  },
  reference: {
    path: 'docs',
    name: 'API reference',
    title: 'API reference',
    lead: 'Every operation of this service, with its parameters, answers and errors.',
    file: { what: 'The same document for programs', name: 'openapi.json' },
  },
} as const satisfies Readonly<Record<string, PageFrame>>;

export type PageName = keyof typeof PAGES;
