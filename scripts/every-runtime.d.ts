// The only globals besides the language that the pure packages may use; every runtime has them. No clock, no
// randomness, no network, no environment.
declare class TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>;
}
declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean });
  decode(bytes?: Uint8Array): string;
}
declare function atob(base64: string): string;
declare function btoa(bytes: string): string;
declare class URL {
  constructor(url: string, base?: string | URL);
  readonly href: string;
  readonly origin: string;
  readonly protocol: string;
  readonly host: string;
  readonly pathname: string;
}
declare class AbortSignal {
  readonly aborted: boolean;
  throwIfAborted(): void;
}
