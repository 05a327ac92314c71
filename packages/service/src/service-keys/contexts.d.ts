/** Packages of the published JSON-LD contexts, which bring no types. */
declare module 'did-context' {
  const contexts: { readonly contexts: ReadonlyMap<string, object> };
  export default contexts;
}
declare module '@digitalbazaar/multikey-context' {
  const contexts: { readonly contexts: ReadonlyMap<string, object> };
  export default contexts;
}
