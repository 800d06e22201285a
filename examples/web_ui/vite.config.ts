import { fileURLToPath } from 'node:url';
import tailwindcss from '@tailwindcss/vite';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const api = process.env.API_URL ?? 'http://localhost:8000';
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

// Everything the service answers itself; the rest is the app.
const apiPaths = ['/knowledge_bases', '/credential', '/embedding-model', '/health', '/openapi.json', '/auth', '/me'];

const proxy = Object.fromEntries(
  apiPaths.map((path) => [
    path,
    {
      target: api,
      configure: (server: { on: (event: string, listener: (...args: unknown[]) => void) => void }) => {
        // A stopped service answers 502, as it would behind any other proxy, and not a bare 500.
        server.on('error', (...args: unknown[]) => {
          const response = args[2] as { writeHead?: (status: number) => void; end: () => void };
          response.writeHead?.(502);
          response.end();
        });
      },
    },
  ]),
);

export default defineConfig({
  base: './',
  plugins: [react(), tailwindcss()],
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
  },
  test: {
    environment: 'happy-dom',
    include: ['tests/**/*.test.{ts,tsx}'],
    setupFiles: ['tests/setup.ts'],
    restoreMocks: true,
  },
});
