/** What the operator of a service does for newcomers: registers a Principal and a relying party of their own. */
export const baseUrl = process.env.BASE_URL ?? 'http://localhost:8080';

interface Registered {
  readonly did: string;
  readonly api_key: string;
}

const register = async (path: string, body: object): Promise<Registered> => {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.ADMIN_TOKEN}` },
    body: JSON.stringify(body),
  });
  if (response.status === 201) return (await response.json()) as Registered;
  const hint = response.status === 401 ? ' (is ADMIN_TOKEN that of the service?)' : '';
  throw new Error(`${path} answered ${response.status}: ${await response.text()}${hint}`);
};

/** `registration` is the public part of the Principal's key. */
export const registerPrincipal = (registration: object): Promise<Registered> =>
  register('/principals', { kind: 'managed', slug: `acme-${Date.now()}`, keys: [registration] });

export const registerRelyingParty = (): Promise<Registered> =>
  register('/relying-parties', { kind: 'managed', slug: `shop-${Date.now()}` });
