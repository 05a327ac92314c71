/**
 * The guide's pages about what the libraries answer and throw themselves. Types demand one page for each code. This
 * file is not part of any library; the guide is built from it.
 */
import type { SvcErrorKind } from './errors.ts';
import type { RefusalCode } from './refusal-codes.ts';

export interface HelpText {
  /** What happened, in one sentence. */
  readonly meaning: string;
  /** What to do. */
  readonly remedy: string;
}

/** Texts for the Agent that is refused, and for the relying party where it is at fault. */
export const REFUSAL_TEXTS: Readonly<Record<RefusalCode, HelpText>> = {
  UNAUTHORIZED: {
    meaning: 'The request or the call of a tool came without a Grant or without a Proof.',
    remedy:
      'Agent: send the Grant and a new Proof with it, as `createAgentFetch` does (`Svc-Grant`, `Svc-Proof`), or `createToolCaller` (`svc/grant` and `svc/proof` in `_meta`). Relying party: see that no proxy drops the headers.',
  },
  INVALID_REQUEST: {
    meaning:
      'The request has no form that a Proof could be signed for, its body cannot be read, or the tool does not take these arguments. Nothing was asked or spent.',
    remedy:
      'Agent: put right what the message names. The path must be in normal form and the method in upper case; the body must be JSON; the arguments those of the tool’s schema. Then sign a Proof for that.',
  },
  FORBIDDEN: {
    meaning:
      'The relying party does not do it: its `reason` says why, or the tool is not offered to Agents at all.',
    remedy:
      'Agent: go by the `reason`. One of a Receipt is a [reason code](../reasons), SIGNATURE_REQUIRED and REQUEST_MISMATCH have pages of their own. For a tool that is not offered no Grant helps.',
  },
  SIGNATURE_REQUIRED: {
    meaning:
      'The relying party demands that the request itself be signed (RFC 9421) by the key of its Proof, and no signature with it holds. The service was not asked, and the Proof is not spent.',
    remedy:
      'Agent: sign what `Accept-Signature` names: give `createAgentFetch` a `signature: createRequestSigner()` of `@svc/sdk-principal/web-bot-auth`. If it does sign, the message says what does not hold: a signature of another key, one that is older than the relying party allows, a clock that is wrong, or a proxy that changes a field that was signed.',
  },
  REQUEST_MISMATCH: {
    meaning:
      'The Proof is for another method and URL, or another call of a tool, than the one that it came with. Without a Receipt the service was not asked: nothing is spent, and no budget is drawn.',
    remedy:
      'Agent: sign a new Proof for exactly this method and URL, or these arguments; a redirect and a retry need one each. Relying party: if every request gets it, `origin` or `url` is not the address that Agents use, as behind a proxy that changes host, scheme or path.',
  },
  PAYLOAD_TOO_LARGE: {
    meaning: 'The body is longer than the relying party reads. Nothing was asked or spent.',
    remedy: 'Agent: send less. Relying party: raise the limit of the parser that is mounted ahead.',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    meaning: 'The body is of a type that the relying party does not read. Nothing was asked or spent.',
    remedy: 'Agent: send JSON, with `Content-Type: application/json`.',
  },
  CONFIGURATION: {
    meaning:
      'The relying party parses no body where its `action` reads one, or its `action` returns no Action: the Agent can do nothing about it.',
    remedy:
      'Relying party: mount a parser ahead of the middleware, such as `express.json()`; let `action` return an Action or throw. `onError` is told, else one line on `console.error`.',
  },
  SERVICE_UNAVAILABLE: {
    meaning: 'The relying party could not have the authority verified, and so does nothing.',
    remedy:
      'Agent: try again after `Retry-After` with a new Proof. Relying party: `onError` is told why, else one line on `console.error`: a key that was revoked, a service that cannot be reached, a clock that is wrong.',
  },
};

export const KIND_TEXTS: Readonly<Record<SvcErrorKind, HelpText>> = {
  'invalid-argument': {
    meaning:
      'An argument is missing, of another type or form, or does not fit another one. Nothing was sent.',
    remedy: 'Put right what the message names: it says what is expected, and what was given.',
  },
  configuration: {
    meaning:
      'The library is set up in a way that cannot work: no API key or one of another kind, an address that is none, a wrong DID, a clock that is wrong, a runtime without WebCrypto.',
    remedy:
      'Put right what the message names; trying again does not help. Relying parties await `verifier.ready()` at start, so that it is found then. For WebCrypto use Node 20.19 or later, or a page that is served over https.',
  },
  refused: {
    meaning: 'The service answered with an error. `code`, `status` and `message` are its own words.',
    remedy:
      'Look up `code` among the [error codes](../errors): each page has its remedy. Without a `code`, something in between answered, such as a proxy: see `status`, and whether `baseUrl` is the address of the service. After a 503 to `verify` the Proof may be spent, as after `outcome-unknown`: let the Agent sign a new one.',
  },
  network: {
    meaning: 'The service could not be reached. Nothing happened there.',
    remedy:
      'Check `baseUrl`, DNS, proxies and certificates; the message has the code of the failed connection. The call can be made again.',
  },
  timeout: {
    meaning: 'No answer came in time to a call that changes nothing, repeats included.',
    remedy:
      'Make the call again, or give it a longer `timeoutMs`. If it lasts, see whether the service is ready (`GET /readyz`).',
  },
  aborted: {
    meaning: 'The signal that the caller gave has fired.',
    remedy:
      'If the call changes something, whether it took effect is unknown: look, before it is made again, as for [outcome-unknown](outcome-unknown).',
  },
  'outcome-unknown': {
    meaning:
      'A call that changes something was sent, and its answer was lost, came from a gateway or tells of a fault of the service (any 5xx but 503), or was a 503 and a later attempt ended otherwise: it may have taken effect, or not. Nothing was allowed.',
    remedy:
      'After `verify`, let the Agent sign a new Proof: the one sent may be spent. After issuing a Grant or a key, or reporting an outcome, look in the list whether it is there before you do it again. After a revocation or a pause, make the call again until it succeeds: until then the authority may be in force.',
  },
  'bad-response': {
    meaning:
      'What answered is not of the interface: another program at this address, a proxy’s page, or an answer about something else.',
    remedy:
      'Check that `baseUrl` is the service’s address, and that nothing in between changes answers. If the service is newer than the library, update the library. Nothing of the answer was used.',
  },
  'receipt-invalid': {
    meaning:
      'A Receipt came that cannot be trusted or is about something else: of another service or key, for another relying party or Proof, too old, or changed. It allows nothing.',
    remedy:
      'The message names each of the [failures](../failures). `old-answer` and `clock-behind`: synchronise the clock. `unknown-key`: is `serviceDid`, or the pinned document, that of the service at `baseUrl`, and is a pinned one as new as its keys? `relying-party`: the API key is of another. Anything else: take it for an attack until it is explained. After `verify` the Proof may be spent, so let the Agent sign a new one, and the budget drawn: look up the decision by the error’s `receiptId`, and report `cancelled` about an ALLOW that you did nothing for.',
  },
  'request-mismatch': {
    meaning:
      'The Proof is for another HTTP request than the one received. With `receipt` null the service was not asked: nothing is spent, and no budget is drawn.',
    remedy:
      'Refuse the request; `received` and `signedFor` say which is which. If every request gets it, the `url` given to `verify`, or the `origin` of the middleware, is not the address that Agents use.',
  },
  'webhook-invalid': {
    meaning: 'A webhook is not signed by the service with your secret, is not fresh, or is no event.',
    remedy:
      'Answer 400 and do nothing with it. If all are: give `verifyWebhook` the body as it was received, byte for byte, and the secret of this subscription; synchronise the clock.',
  },
  'redirect-refused': {
    meaning:
      'The relying party answered an Agent with a redirect. Following it would have carried the Grant and the Proof to another address.',
    remedy:
      'Call the new address with the Agent’s `fetch`, which signs a Proof for it, if the relying party is the one meant; or pass `redirect: "manual"` and read `Location`.',
  },
};
