/**
 * Builds the verifier as one HTML file that works from disk: script and style are inline, and the policy allows each by
 * its hash and nothing else. Built after the served pages, into the same folder.
 */
import { createHash } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** A `<` in code is part of an operator or of a string; in a string `<\/script` and `<\!--` have the same meaning. */
const asInlineScript = (code: string): string =>
  code.replaceAll(/<(?=\/script|!--)/gi, String.raw`\x3c`).trim();

const writeOneFile: Plugin = {
  name: 'write-one-file',
  // Runs after the styles have become a file.
  enforce: 'post',
  generateBundle(_, bundle) {
    const outputs = Object.values(bundle);
    const script = outputs
      .flatMap((one) => (one.type === 'chunk' ? [asInlineScript(one.code)] : []))
      .join('');
    const style = outputs
      .flatMap((one) => (one.type === 'asset' && one.fileName.endsWith('.css') ? [String(one.source)] : []))
      .join('')
      .trim();
    for (const name of Object.keys(bundle)) delete bundle[name];
    const policy = [
      "default-src 'none'",
      `script-src ${hashOf(script)}`,
      `style-src ${hashOf(style)}`,
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
    ].join('; ');
    this.emitFile({
      type: 'asset',
      fileName: 'verify-receipt-offline.html',
      source: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Verify a Receipt offline</title>
<link rel="icon" href="data:,">
<style>${style}</style>
</head>
<body>
<div id="page"></div>
<script>${script}</script>
</body>
</html>
`,
    });
  },
};

export default defineConfig({
  resolve: { conditions: ['svc-source', 'module', 'browser'] },
  plugins: [writeOneFile],
  build: {
    target: 'es2022',
    emptyOutDir: false,
    modulePreload: false,
    // Otherwise Vite would write the styles into the script.
    cssCodeSplit: false,
    rolldownOptions: {
      input: fileURLToPath(new URL('src/verifier/offline.tsx', import.meta.url)),
      output: { format: 'iife' },
    },
  },
});
