import { join } from 'node:path';
import type { ViteDevServer } from 'vite';
import { project } from './builds.mjs';

/**
 * Starts the dev server on a free port of this machine, for a driver. It does not watch files: a
 * reload during a run would lose the run.
 */
export async function startDevServer(): Promise<{ server: ViteDevServer; url: string }> {
  const { createServer } = await import('vite');
  const server = await createServer({
    configFile: join(project, 'vite.config.ts'),
    // a cache of its own: `npm run dev` has other settings, and each would delete the other's cache
    cacheDir: join(project, 'node_modules/.vite-driver'),
    logLevel: 'warn',
    clearScreen: false,
    server: { host: '127.0.0.1', port: 0, strictPort: false, open: false, hmr: false, watch: null },
  });
  await server.listen();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('the dev server has no port');
  return { server, url: `http://127.0.0.1:${address.port}/` };
}
