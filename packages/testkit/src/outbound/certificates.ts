/** A test's own certificate authority and certificates issued by it. Keys are in memory only. */
import { generate } from 'selfsigned';

export interface Leaf {
  readonly cert: string;
  readonly key: string;
}

export interface TestAuthority {
  /** PEM. */
  readonly ca: string;
  issue(names: readonly string[], validity?: { readonly from: Date; readonly to: Date }): Promise<Leaf>;
}

export const createAuthority = async (keyType: 'ec' | 'rsa' = 'ec'): Promise<TestAuthority> => {
  const keys = { keyType, algorithm: 'sha256' } as const;
  const root = await generate([{ name: 'commonName', value: 'outbound tests' }], {
    ...keys,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  });
  return {
    ca: root.cert,
    issue: async (names, validity) => {
      const leaf = await generate([{ name: 'commonName', value: 'leaf' }], {
        ...keys,
        ca: { key: root.private, cert: root.cert },
        extensions: [
          { name: 'basicConstraints', cA: false, critical: true },
          { name: 'subjectAltName', altNames: names.map((value) => ({ type: 2, value })) },
        ],
        ...(validity === undefined ? {} : { notBeforeDate: validity.from, notAfterDate: validity.to }),
      });
      return { cert: leaf.cert, key: leaf.private };
    },
  };
};
