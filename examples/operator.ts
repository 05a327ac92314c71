/** What the operator of a service does for newcomers: registers a Principal and a relying party, and names its DID. */
export const baseUrl = process.env.BASE_URL ?? 'http://localhost:8080';

interface Registered {
  readonly did: string;
  readonly api_key: string;
}

const post = async (path: string, body: object): Promise<Registered> => {
  const response = await fetch(baseUrl + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.ADMIN_TOKEN}` },
    body: JSON.stringify(body),
  });
  if (response.status === 201) return (await response.json()) as Registered;
  const hint = response.status === 401 ? ' (is ADMIN_TOKEN that of the service?)' : '';
  throw new Error(`${path} answered ${response.status}: ${await response.text()}${hint}`);
};

const findServiceDid = async (): Promise<string> => {
  const response = await fetch(`${baseUrl}/healthz`);
  return ((await response.json()) as { readonly did: string }).did;
};

/** `key`: the public part of the Principal's key. */
export const register = async (key: object) => ({
  serviceDid: await findServiceDid(),
  acme: await post('/principals', { kind: 'managed', slug: `acme-${Date.now()}`, keys: [key] }),
  shop: await post('/relying-parties', { kind: 'managed', slug: `shop-${Date.now()}` }),
});
