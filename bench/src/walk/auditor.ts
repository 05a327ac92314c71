/**
 * The auditor's part: a Receipt, a bundle and a bare JWS, offline and from the service; the audit from the evidence;
 * the monitor.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Place, World } from './developer.ts';
import type { Steps } from './steps.ts';

const PATH = 'auditor';

export const walkAsAuditor = async (steps: Steps, place: Place, world: World): Promise<void> => {
  const { baseUrl, serviceDid, relyingPartyKey } = world;
  const folder = join(place.folder, 'audit');
  mkdirSync(join(folder, 'evidence'), { recursive: true });
  const save = (name: string, text: string) => writeFileSync(join(folder, name), text);
  await steps.time(PATH, 'npm install of svc-receipt in an empty folder, offline', () =>
    steps.run(`npm install --offline ${place.packages}/svc-cli-*.tgz`, folder),
  );
  const ask = async (path: string, init: RequestInit = {}) => {
    const response = await fetch(`${baseUrl}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${relyingPartyKey}`, 'content-type': 'application/json' },
    });
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
    return response.text();
  };
  const body = readFileSync(world.bodyPath, 'utf8');
  const presented = JSON.parse(body) as { grant: string; proof: string; action: object };
  const verdict = await ask('/verify', { method: 'POST', body });
  const { receipt_id: id } = JSON.parse(verdict) as { readonly receipt_id: string };
  save('receipt.json', verdict);
  save('decision.json', await ask(`/decisions/${id}`));
  save('bundle.json', await ask(`/decisions/${id}/bundle`));
  save('did.json', await ask('/.well-known/did.json'));
  save('grant.jwt', presented.grant);
  save('proof.jwt', presented.proof);
  save('action.json', JSON.stringify(presented.action));
  for (const hash of new Set(verdict.match(/sha256:[0-9a-f]{64}/g)))
    await ask(`/evidence/${hash}`).then(
      (text) => save(join('evidence', hash.slice(7)), text),
      () => {},
    );

  const receipt = (words: string, expected: string, code = 0) =>
    steps.run(`npx --offline svc-receipt ${words}`, folder, { expected, code });
  const pinned = '--did-document did.json';
  await steps.time(PATH, 'a Receipt, its decision and a bundle, offline', () => {
    receipt(`receipt.json ${pinned}`, 'VALID');
    receipt(`decision.json ${pinned}`, 'VALID');
    // The day of this bundle is not over; the repository has a complete bundle.
    receipt(`bundle.json ${pinned}`, 'is not closed yet', 2);
    const example = join(place.clone, 'examples', 'bundle');
    receipt(`${example}/bundle.json --did-document ${example}/did.json`, 'VALID');
  });
  await steps.time(PATH, 'a Receipt with what the service serves (--fetch)', () =>
    receipt(`receipt.json --service-did ${serviceDid} --fetch`, 'VALID'),
  );
  await steps.time(PATH, 'an address that takes an API key', () =>
    receipt(`${baseUrl}/decisions/${id} ${pinned}`, 'fetch it with that one and give the file', 2),
  );
  await steps.time(PATH, 'the audit from what was presented', () => {
    const given = '--grant grant.jwt --proof proof.jwt --action action.json --evidence evidence';
    receipt(`audit receipt.json ${pinned} ${given} --proof-window 300`, '');
  });
  await steps.time(PATH, 'one look of the monitor', () => receipt(`monitor ${baseUrl} ${pinned}`, ''));
};
