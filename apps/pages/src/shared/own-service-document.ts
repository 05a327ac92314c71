let document: Promise<string> | null = null;

/** The DID document of the service that this page came from, fetched once. Rejects where it cannot be had. */
export const ownServiceDocument = (): Promise<string> => {
  document ??= fetchDocument().catch((error: unknown) => {
    document = null;
    throw error;
  });
  return document;
};

const fetchDocument = async (): Promise<string> => {
  const response = await fetch('.well-known/did.json');
  if (!response.ok) throw new Error(`The service's DID document: the service answered ${response.status}.`);
  return response.text();
};
