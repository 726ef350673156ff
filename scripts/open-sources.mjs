import { createServer } from 'vite';

/** Vite is what turns the TypeScript of src/ and dev/ (and the WGSL that it inlines) into modules for Node. */
export function openSources() {
  return createServer({
    configFile: false,
    server: { middlewareMode: true, watch: null, hmr: false, ws: false },
    appType: 'custom',
    logLevel: 'warn',
    optimizeDeps: { noDiscovery: true },
  });
}
