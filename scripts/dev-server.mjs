import { fileURLToPath } from 'node:url';
import { createServer } from 'vite';

/**
 * The dev server on a free port of this machine, for a driver: it does not watch files, as a reload in the middle of
 * a run would lose it.
 *
 * @returns {Promise<{ server: import('vite').ViteDevServer, url: string }>}
 */
export async function startDevServer() {
  const server = await createServer({
    configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)),
    // Its own, as settings that differ from those of `npm run dev` would make each of the two throw the other's away.
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
