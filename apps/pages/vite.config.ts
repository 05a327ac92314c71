/**
 * Builds the pages that the API serves: one HTML file each, with scripts and styles beside it under names that contain
 * their hash. Addresses are relative, so that they work behind a path prefix. Nothing is inline, as the content
 * security policy demands.
 */
import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin, runnerImport } from 'vite';

const page = (name: string): string => fileURLToPath(new URL(`${name}.html`, import.meta.url));

const conditions = ['svc-source', 'module', 'browser'];

/** Rendering to text does not need styles. */
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

/** Writes into each page what it shows before its script is loaded. */
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

/** The only address that Redoc would fetch by itself: its maker's logo. Without the image it shows no logo. */
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
