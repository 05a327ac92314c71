/** Shortens a long id to the part that tells it apart. The whole id is shown on hover and can be copied. */
const shortId = (id: string): string => {
  const [, prefix = '', rest = id] = /^(did:key:|urn:svc:grant:|evt_|whs_)?(.*)$/.exec(id) ?? [];
  if (prefix === '' || rest.length <= 14) return id;
  return `${prefix === 'urn:svc:grant:' ? 'grant ' : prefix}${rest.slice(0, 5)}…${rest.slice(-6)}`;
};

export const ShortId = ({ id }: { readonly id: string }) => (
  <code title={id} class="short-id">
    {shortId(id)}
  </code>
);
