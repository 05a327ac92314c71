/**
 * The pages as the API serves them: one HTML file each, scripts and styles beside them under names that hold their
 * hash. Addresses are relative, so that they work behind a path prefix; nothing is inline, as the policy demands.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, runnerImport } from 'vite';

const page = (name: string): string => fileURLToPath(new URL(`${name}.html`, import.meta.url));

const conditions = ['svc-source', 'module', 'browser'];

/** A rendering to text has no use for them. */
const withoutStyles: Plugin = {
  name: 'without-styles',
  enforce: 'pre',
  resolveId: (source) => (source.endsWith('.css') ? '\0no-styles' : null),
  load: (id) => (id === '\0no-styles' ? '' : null),
};

const importPrerender = () =>
  runnerImport<typeof import('./src/prerender.tsx')>(
    fileURLToPath(new URL('src/prerender.tsx', import.meta.url)),
    {
      plugins: [withoutStyles],
      environments: { inline: { resolve: { conditions, noExternal: [/^@svc\//] } } },
    },
  );

/** Each page holds what it shows before its script has arrived. */
const prerendered = (): Plugin => {
  let imported: ReturnType<typeof importPrerender> | undefined;
  return {
    name: 'prerendered',
    transformIndexHtml: {
      order: 'pre',
      handler: async (html) => {
        imported ??= importPrerender();
        const { prerender } = (await imported).module;
        return html.replace(
          /(<div id="page") data-page="(\w+)">/,
          (_, place: string, page) => `${place}>${prerender(page)}`,
        );
      },
    },
  };
};

/** The only address that Redoc would fetch by itself: its maker's logo. Without an image it shows none. */
const VENDOR_LOGO = 'https://cdn.redoc.ly/redoc/logo-mini.svg';

const withoutVendorLogo: Plugin = {
  name: 'without-vendor-logo',
  generateBundle(_, bundle) {
    for (const asset of Object.values(bundle))
      if (asset.type === 'asset' && asset.fileName.includes('redoc'))
        asset.source = asset.source.toString().replaceAll(VENDOR_LOGO, 'data:,');
  },
};

export default defineConfig({
  base: './',
  resolve: { conditions },
  plugins: [prerendered(), withoutVendorLogo],
  build: {
    target: 'es2022',
    // The API serves this folder under this path.
    assetsDir: 'pages',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: ['index', 'docs', 'verify-receipt', 'dashboard', 'transparency', 'playground', 'approve'].map(
        page,
      ),
    },
  },
});
