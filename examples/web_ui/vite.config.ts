import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import type { Plugin, ProxyOptions } from 'vite';
import { defineConfig } from 'vitest/config';

const api = process.env.API_URL ?? 'http://localhost:8000';
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Everything the service answers itself; the rest is the app.
const apiPaths = ['/knowledge_bases', '/credential', '/embedding-model', '/health', '/openapi.json', '/identity', '/api_keys', '/operator', '/usage'];

const proxy: Record<string, ProxyOptions> = Object.fromEntries(
  apiPaths.map((path) => [
    path,
    {
      target: api,
      configure: (server) => {
        // A stopped service answers 502, as it would behind any other proxy, and not a bare 500.
        server.on('error', (_error, _request, response) => {
          if ('writeHead' in response && !response.headersSent) response.writeHead(502);
          response.end();
        });
      },
    } satisfies ProxyOptions,
  ]),
);

// Character maps that Chinese, Japanese and Korean PDF files need when they do not bring their own.
const cmapFolder = here('./node_modules/pdfjs-dist/cmaps');
const characterMaps: Plugin = {
  name: 'character-maps',
  generateBundle() {
    for (const name of readdirSync(cmapFolder).sort())
      if (name.endsWith('.bcmap'))
        this.emitFile({ type: 'asset', fileName: `cmaps/${name}`, source: readFileSync(`${cmapFolder}/${name}`) });
  },
  configureServer(server) {
    server.middlewares.use('/cmaps', (request, response, next) => {
      const name = (request.url ?? '').replace(/^\//, '').split('?')[0] ?? '';
      if (!/^[\w-]+\.bcmap$/.test(name)) return next();
      response.end(readFileSync(`${cmapFolder}/${name}`));
    });
  },
};

// The first paint needs the styles only: scripts come right after them, not beside them.
const stylesFirst: Plugin = {
  name: 'styles-first',
  transformIndexHtml: {
    order: 'post',
    handler: (html) => html.replace(/<script type="module"|<link rel="modulepreload"/g, '$& fetchpriority="low"'),
  },
};

export default defineConfig({
  base: './',
  plugins: [react(), tailwindcss(), characterMaps, stylesFirst],
  resolve: { alias: { '@': here('./src') } },
  server: { port: 5173, strictPort: true, proxy },
  build: {
    outDir: process.env.OUT_DIR ?? here('../../src/agentscope/app/ui/dist'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 2000,
    reportCompressedSize: false,
    rolldownOptions: {
      output: {
        // Not every server knows .mjs as a script.
        assetFileNames: ({ names }) => (names[0]?.endsWith('.mjs') ? 'assets/[name]-[hash].js' : 'assets/[name]-[hash][extname]'),
      },
    },
  },
  test: {
    environment: 'happy-dom',
    include: ['tests/**/*.test.{ts,tsx}'],
    setupFiles: ['tests/setup.ts'],
    restoreMocks: true,
    testTimeout: 20_000,
    isolate: false,
    fileParallelism: false,
  },
});
