/** The used parts of packages that come without types. */
declare module '@digitalbazaar/ed25519-verification-key-2020' {
  export class Ed25519VerificationKey2020 {
    id: string;
    controller: string;
    static generate(options?: { readonly controller?: string }): Promise<Ed25519VerificationKey2020>;
    static from(key: object): Promise<Ed25519VerificationKey2020>;
    fingerprint(): string;
    signer(): object;
    verifier(): object;
    export(options: { readonly publicKey: boolean; readonly includeContext?: boolean }): object;
  }
}
declare module '@digitalbazaar/ed25519-signature-2020' {
  export class Ed25519Signature2020 {
    constructor(options?: { readonly signer?: object });
  }
  export const suiteContext: { readonly CONTEXT_URL: string; readonly contexts: ReadonlyMap<string, object> };
}
declare module '@digitalbazaar/zcap' {
  export type DocumentLoader = (url: string) => Promise<object>;
  export class CapabilityDelegation {
    constructor(options: { readonly parentCapability: unknown });
  }
  export function createRootCapability(options: {
    readonly controller: string;
    readonly invocationTarget: string;
  }): { readonly id: string };
  export function extendDocumentLoader(loader: DocumentLoader): DocumentLoader;
  export const constants: { readonly ZCAP_CONTEXT_URL: string };
}
declare module '@digitalbazaar/http-signature-zcap-invoke' {
  export function signCapabilityInvocation(options: object): Promise<Readonly<Record<string, string>>>;
}
declare module '@digitalbazaar/http-signature-zcap-verify' {
  export function verifyCapabilityInvocation(
    options: object,
  ): Promise<{ readonly verified: boolean; readonly error?: Error }>;
}
declare module 'jsonld-signatures' {
  const signatures: {
    sign(document: object, options: object): Promise<object>;
    readonly strictDocumentLoader: (url: string) => Promise<object>;
  };
  export default signatures;
}
