/** Types of packages with the published JSON-LD contexts, which have none of their own. */
declare module 'did-context' {
  const contexts: { readonly contexts: ReadonlyMap<string, object> };
  export default contexts;
}
declare module '@digitalbazaar/multikey-context' {
  const contexts: { readonly contexts: ReadonlyMap<string, object> };
  export default contexts;
}
