/** The encodings of the protocol: pure, synchronous, one spelling for each value. */
export * from './base64url.ts';
export * from './bounded-memo.ts';
export type * from './branded.ts';
export * from './compact-jws.ts';
export * from './crypto.ts';
export * from './did-key.ts';
export * from './did-web.ts';
export * from './failure.ts';
export * from './htu.ts';
export * from './jcs.ts';
export * from './json.ts';
export * from './json-pointer.ts';
export * from './sha256.ts';
export * from './shape.ts';
export * from './strict-json.ts';
export * from './timestamp.ts';
export * from './ulid.ts';
export * from './utf8.ts';
