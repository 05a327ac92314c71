// The last step of the build: writes compressed copies of the files that the API serves unchanged to `dist/encoded/`,
// at the highest level. HTML pages and texts are excluded, since the API writes into them and they are small. Pictures
// are excluded, since they are compressed already.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync, constants as zlib } from 'node:zlib';

const dist = new URL('../dist/', import.meta.url);
const encoded = new URL('encoded/', dist);

rmSync(encoded, { recursive: true, force: true });
mkdirSync(new URL('pages/', encoded), { recursive: true });
for (const name of [
  ...readdirSync(new URL('pages/', dist))
    .filter((file) => !file.endsWith('.png'))
    .map((file) => `pages/${file}`),
  'verify-receipt-offline.html',
]) {
  const bytes = readFileSync(new URL(name, dist));
  const brotli = { [zlib.BROTLI_PARAM_QUALITY]: 11, [zlib.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  writeFileSync(new URL(`${name}.br`, encoded), brotliCompressSync(bytes, { params: brotli }));
  writeFileSync(new URL(`${name}.gz`, encoded), gzipSync(bytes, { level: 9 }));
}
