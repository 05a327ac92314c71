/**
 * The Proof's nonce (interface §Proof, protocol §3): 22–64 base64url characters, at least 128 bits when random.
 */
const JTI = /^[A-Za-z0-9_-]{22,64}$/;

/** Whether a text has the form of a Proof's nonce: 22 to 64 base64url characters. */
export const isJti = (text: string): boolean => JTI.test(text);
