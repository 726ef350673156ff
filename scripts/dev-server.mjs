import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/**
 * Starts the dev server on a free port of this machine, for a driver. It does not watch files: a
 * reload during a run would lose the run.
 *
 * @returns {Promise<{ server: import('vite').ViteDevServer, url: string }>}
 */
export async function startDevServer() {
  const server = await createServer({
    configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
    // a cache of its own: `npm run dev` has other settings, and each would delete the other's cache
    cacheDir: fileURLToPath(new URL('../node_modules/.vite-driver', import.meta.url)),
    logLevel: 'warn',
    clearScreen: false,
    server: { host: '127.0.0.1', port: 0, strictPort: false, open: false, hmr: false, watch: null },
  });
  await server.listen();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('the dev server has no port');
  return { server, url: `http://127.0.0.1:${address.port}/` };
}
