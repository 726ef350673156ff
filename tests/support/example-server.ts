/** A server of a page of examples/, with the package as it is built. */
import { build, createServer } from 'vite';
import { inProject } from './run-script.js';

export interface ExampleServer {
  readonly origin: string;
  close(): Promise<void>;
}

/** Serves examples/NAME/. The build is its own, as `npm test` must neither need dist/ nor change it. */
export const serveExample = async (name: string): Promise<ExampleServer> => {
  const outDir = inProject(`node_modules/.cache/webgpu-msm/built-for-${name}`);
  await build({ configFile: inProject('vite.lib.config.ts'), build: { outDir }, logLevel: 'error' });
  const server = await createServer({
    configFile: inProject(`examples/${name}/vite.config.ts`),
    root: inProject(`examples/${name}`),
    cacheDir: inProject(`node_modules/.vite-${name}`),
    resolve: {
      alias: [
        { find: /^webgpu-msm$/, replacement: `${outDir}/index.js` },
        { find: /^webgpu-msm\/(.+)$/, replacement: `${outDir}/$1.js` },
      ],
    },
    server: { host: '127.0.0.1', port: 0, hmr: false, watch: null, fs: { allow: [inProject('.')] } },
    logLevel: 'error',
  });
  await server.listen();
  const address = server.httpServer?.address();
  if (typeof address !== 'object' || address === null) throw new Error('the server has no port');
  return { origin: `http://127.0.0.1:${address.port}/`, close: () => server.close() };
};
