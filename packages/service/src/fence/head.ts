/** The text of the fence's head: a JSON object that names its service, so that two deployments never share one head. */
import { isJsonObject, type JsonObject, parseStrictJson } from '@svc/protocol';
import type { FenceHead, NamedLoss } from '../ports/fence.ts';
import type { ServiceIdentity } from '../service-keys/service-identity.ts';

export const HEAD_KEY = 'head';

export const formatHead = (service: string, { epoch, seq, nonce, atMs, named }: FenceHead): string =>
  JSON.stringify({
    ...{ version: 1, service, epoch, seq, nonce, at_ms: atMs },
    ...(named && { named: { lost_from_ms: named.lostFromMs, follows_names: named.followsNames } }),
  });

/** The DID of the service that the text names; null: it names none. */
export const serviceOfHead = (text: string): string | null => {
  const json = parseStrictJson(text);
  const of = json.ok && isJsonObject(json.value) ? json.value.service : undefined;
  return typeof of === 'string' ? of : null;
};

/** The head, or what is wrong with it. */
export const parseHead = (service: string, text: string): FenceHead | { readonly problem: string } => {
  const json = parseStrictJson(text);
  if (!json.ok || !isJsonObject(json.value) || json.value.version !== 1)
    return { problem: 'the fence holds no head that this version can read' };
  const { service: of, epoch, seq, nonce, at_ms: atMs } = json.value;
  if (of !== service) return { problem: `the fence is that of ${String(of)}` };
  if (!isCount(epoch) || !isCount(seq) || typeof nonce !== 'string' || !isCount(atMs))
    return { problem: 'the head of the fence is malformed' };
  const named = parseNamed(json.value.named);
  if (named === null) return { problem: 'the head of the fence is malformed' };
  return { epoch, seq, nonce, atMs, ...named };
};

/** As `parseHead`, for a head under the present DID of the service or a former one. */
export const parseOwnHead = (
  { did, formers }: Pick<ServiceIdentity, 'did' | 'formers'>,
  text: string,
): ReturnType<typeof parseHead> => {
  const of = serviceOfHead(text);
  return parseHead(formers.find((former) => former.did === of)?.did ?? did, text);
};

/** Parses the member `named`. Null: it is malformed. */
const parseNamed = (named: JsonObject[string] | undefined): { readonly named?: NamedLoss } | null => {
  if (named === undefined) return {};
  if (!isJsonObject(named)) return null;
  const { lost_from_ms: lostFromMs, follows_names: followsNames } = named;
  if (!isCount(lostFromMs) || typeof followsNames !== 'boolean') return null;
  return { named: { lostFromMs, followsNames } };
};

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
