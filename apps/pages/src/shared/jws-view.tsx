/** A compact JWS taken apart: its three parts as they are, and the first two decoded. It proves nothing. */
import { decodeBase64urlText, parseStrictJson } from '@svc/protocol';
import { CopyButton } from './copy-button.tsx';
import { abridge } from './describe.ts';
import { JsonView } from './json-view.tsx';
import { visible } from './resource.tsx';
import './jws-view.css';

export const JwsView = ({ jws, name }: { readonly jws: string; readonly name: string }) => {
  const [header = '', payload = '', signature = ''] = jws.split('.');
  return (
    <div class="jws">
      <div class="jws-head">
        <h3>The signed text</h3>
        <CopyButton text={jws} label="Copy the JWS" />
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section class="jws-text" tabIndex={0} aria-label={`JWS of the ${name}`}>
        <span class="jws-header">{visible(abridge(header))}</span>.
        <span class="jws-payload">{visible(abridge(payload))}</span>.
        <span class="jws-signature">{visible(abridge(signature))}</span>
      </section>
      <h3>
        <span class="jws-header">Header</span>
      </h3>
      <JsonView value={decode(header)} label={`Header of the ${name}`} />
      <h3>
        <span class="jws-payload">Payload</span>
      </h3>
      <JsonView value={decode(payload)} label={`Payload of the ${name}`} />
    </div>
  );
};

/** Strict JSON has a limit of depth; a part that exceeds it, or is not JSON, is shown as text. */
const decode = (part: string): unknown => {
  const text = decodeBase64urlText(part);
  if (text === null) return 'not base64url of UTF-8 text';
  const parsed = parseStrictJson(text);
  return parsed.ok ? parsed.value : text;
};
